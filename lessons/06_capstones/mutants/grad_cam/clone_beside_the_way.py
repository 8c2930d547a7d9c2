# misconception: asks for the gradient of a clone that nothing depends on | hint: cam_outside_the_graph
def grad_cam(model, layer, x, targets):
    kept = []
    with model.get_submodule(layer).register_forward_hook(lambda module, args, output: kept.append(output.clone())):
        scores = model(x.detach().clone().requires_grad_())
    (gradient,) = torch.autograd.grad(scores.gather(1, targets[:, None]).sum(), kept[0])
    return (gradient.mean((2, 3), keepdim=True) * kept[0]).sum(1).relu()
