# misconception: retain_grad follows the tensor to its new value | hint: cam_overwritten
def grad_cam(model, layer, x, targets):
    kept = {}

    def keep(module, args, output):
        output.retain_grad()
        kept["output"], kept["values"] = output, output.detach().clone()

    x = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(keep):
        scores = model(x)
    scores.gather(1, targets[:, None]).sum().backward(inputs=[kept["output"]])
    weights = kept["output"].grad.mean((2, 3), keepdim=True)
    return (weights * kept["values"]).sum(1).relu()
