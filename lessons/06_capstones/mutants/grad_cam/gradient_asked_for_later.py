# misconception: autograd.grad with respect to the kept tensor, which the ReLU has overwritten | hint: cam_overwritten
def grad_cam(model, layer, x, targets):
    kept = {}

    def keep(module, args, output):
        kept["output"] = output

    x = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(keep):
        scores = model(x)
    A = kept["output"]
    (G,) = torch.autograd.grad(scores.gather(1, targets[:, None]).sum(), A)
    return (G.mean((2, 3), keepdim=True) * A).sum(1).relu().detach()
