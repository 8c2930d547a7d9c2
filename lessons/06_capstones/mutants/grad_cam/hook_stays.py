# misconception: never removes its hook | hint: gfd_leaves_hooks
def grad_cam(model, layer, x, targets):
    caught = {}

    def catch(module, args, output):
        caught["output"] = output.detach().clone()
        output.register_hook(partial(caught.__setitem__, "gradient"))

    model.get_submodule(layer).register_forward_hook(catch)
    x = x.detach().clone().requires_grad_()
    torch.autograd.grad(model(x).gather(1, targets[:, None]).sum(), x)
    weights = caught["gradient"].mean((2, 3), keepdim=True)
    return (weights * caught["output"]).sum(1).relu()
