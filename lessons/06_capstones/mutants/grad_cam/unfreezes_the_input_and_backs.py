# misconception: backward into the caller's pictures | hint: cam_fills_grad
def grad_cam(model, layer, x, targets):
    caught = {}

    def catch(module, args, output):
        caught["output"] = output.detach().clone()
        output.register_hook(partial(caught.__setitem__, "gradient"))

    x.requires_grad_()
    with model.get_submodule(layer).register_forward_hook(catch):
        scores = model(x).gather(1, targets[:, None])
        scores.sum().backward(inputs=[x])
    weights = caught["gradient"].mean((2, 3), keepdim=True)
    return (weights * caught["output"]).sum(1).relu()
