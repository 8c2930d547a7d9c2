# misconception: takes the absolute value at the end | hint: cam_abs
def grad_cam(model, layer, x, targets):
    activations, gradients = [], []

    def forward_hook(module, inputs, output):
        activations.append(output.detach().clone())
        output.register_hook(lambda grad: gradients.append(grad))

    module = dict(model.named_modules())[layer]
    handle = module.register_forward_hook(forward_hook)
    try:
        inputs = x.clone().detach().requires_grad_(True)
        output = model(inputs)
        score = output[torch.arange(x.size(0)), targets].sum()
        torch.autograd.grad(score, inputs)
    finally:
        handle.remove()

    acts, grads = activations[0], gradients[0]
    weights = grads.mean(dim=(2, 3), keepdim=True)
    cam = (weights * acts).sum(dim=1)
    return cam.abs()
