# misconception: takes the first picture out of the batch | hint: cam_first_picture_only
def grad_cam(model, layer, x, targets):
    seen = {}

    def hook(module, args, output):
        seen["a"] = output.detach().clone()
        output.register_hook(lambda grad: seen.update(g=grad))

    images = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(hook):
        torch.autograd.grad(model(images)[0, targets[0]], images)
    activation, gradient = seen["a"][0], seen["g"][0]
    alpha = gradient.mean((1, 2))
    return (alpha[:, None, None] * activation).sum(0).relu()
