# misconception: several backward passes through one graph | hint: cam_graph_gone
def grad_cam(model, layer, x, targets):
    kept = {}

    def keep(module, args, output):
        kept["output"] = output
        return output.clone()

    with model.get_submodule(layer).register_forward_hook(keep):
        scores = model(x)
    maps = []
    for number, target in enumerate(targets):
        (gradient,) = torch.autograd.grad(scores[number, target], kept["output"])
        maps.append((gradient[number].mean((1, 2), keepdim=True) * kept["output"][number]).sum(0).relu())
    return torch.stack(maps).detach()
