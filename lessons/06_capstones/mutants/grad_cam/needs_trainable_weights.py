# misconception: takes it for granted that something requires a gradient | hint: cam_no_graph
def grad_cam(model, layer, x, targets):
    kept = {}

    def keep(module, args, output):
        kept["output"] = output
        return output.clone()

    with model.get_submodule(layer).register_forward_hook(keep):
        scores = model(x)
    A = kept["output"]
    (G,) = torch.autograd.grad(scores.gather(1, targets[:, None]).sum(), A)
    return (G.mean((2, 3), keepdim=True) * A).sum(1).relu().detach()
