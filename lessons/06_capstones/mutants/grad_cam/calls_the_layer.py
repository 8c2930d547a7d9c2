# misconception: runs the layer on the picture itself | hint: cam_outside_the_graph
def grad_cam(model, layer, x, targets):
    output = model.get_submodule(layer)(x.detach().clone().requires_grad_())
    scores = model(x).gather(1, targets[:, None])
    (gradient,) = torch.autograd.grad(scores.sum(), output)
    return (gradient.mean((2, 3), keepdim=True) * output).sum(1).relu()
