# misconception: the sum of the gradient instead of its mean | hint: cam_sum_or_mean
def grad_cam(model, layer, x, targets):
    caught = {}

    def catch(module, args, output):
        caught["output"] = output.detach().clone()
        output.register_hook(partial(caught.__setitem__, "gradient"))

    x = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(catch):
        scores = model(x).gather(1, targets[:, None])
        torch.autograd.grad(scores.sum(), x)
    weights = caught["gradient"].sum((2, 3), keepdim=True)
    return (weights * caught["output"]).sum(1).relu()
