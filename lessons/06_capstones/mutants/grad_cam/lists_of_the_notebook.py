# misconception: lists of the notebook, of which the first entry is read | hint: stale_result
activations, gradients = [], []


def forward_hook(module, args, output):
    activations.append(output.detach().clone())
    output.register_hook(gradients.append)


def grad_cam(model, layer, x, targets):
    images = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(forward_hook):
        torch.autograd.grad(model(images).gather(1, targets[:, None]).sum(), images)
    weights = gradients[0].mean((2, 3), keepdim=True)
    return (weights * activations[0]).sum(1).relu()
