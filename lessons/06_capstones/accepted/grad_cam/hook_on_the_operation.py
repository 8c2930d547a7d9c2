def grad_cam(model, layer, x, targets):
    caught = []

    def hook(module, args, kwargs, output):
        caught.append(output.data.clone())
        output.grad_fn.register_prehook(lambda grads: caught.append(grads[0]))

    handle = model.get_submodule(layer).register_forward_hook(hook, with_kwargs=True)
    try:
        inputs = x.data.clone().requires_grad_()
        loss = model(inputs)[torch.arange(x.shape[0]), targets]
        torch.autograd.grad(loss, inputs, torch.ones_like(loss))
    finally:
        handle.remove()
    A, G = caught
    return torch.maximum((G.mean((2, 3))[:, :, None, None] * A).sum(1), torch.tensor(0.0))
