# misconception: asks for the gradient of a detached copy | hint: cam_outside_the_graph
def grad_cam(model, layer, x, targets):
    kept = {}

    def keep(module, args, output):
        kept["output"] = output.detach().clone().requires_grad_()

    with model.get_submodule(layer).register_forward_hook(keep):
        scores = model(x)
    (gradient,) = torch.autograd.grad(scores[torch.arange(len(x)), targets].sum(), kept["output"])
    return (gradient.mean((2, 3), keepdim=True) * kept["output"]).sum(1).relu()
