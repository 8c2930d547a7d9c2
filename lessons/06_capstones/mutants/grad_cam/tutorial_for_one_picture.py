# misconception: the well-known tutorial code, which is made for one picture | hint: cam_batch_mixed
def grad_cam(model, layer, x, targets):
    caught = {}

    def catch(module, args, output):
        caught["output"] = output.detach().clone()
        output.register_hook(partial(caught.__setitem__, "gradient"))

    x = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(catch):
        scores = model(x).gather(1, targets[:, None])
        torch.autograd.grad(scores.sum(), x)
    pooled_gradients = torch.mean(caught["gradient"], dim=[0, 2, 3])
    activations = caught["output"]
    for i in range(activations.size(1)):
        activations[:, i, :, :] *= pooled_gradients[i]
    return torch.sum(activations, dim=1).relu()
