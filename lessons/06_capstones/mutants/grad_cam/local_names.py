# misconception: assigns to local names inside the hook | hint: cam_never_caught
def grad_cam(model, layer, x, targets):
    activation = gradient = None

    def hook(module, args, output):
        activation = output.detach().clone()

        def on_gradient(grad):
            gradient = grad

        output.register_hook(on_gradient)

    images = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(hook):
        torch.autograd.grad(model(images).gather(1, targets[:, None]).sum(), images)
    weights = gradient.mean((2, 3), keepdim=True)
    return (weights * activation).sum(1).relu()
