class Catch:
    """Catches the output of one module, and the gradient with respect to it."""

    def __init__(self, module):
        self.module = module
        self.output = self.gradient = None

    def __enter__(self):
        self.handle = self.module.register_forward_hook(self.on_output)
        return self

    def __exit__(self, *error):
        self.handle.remove()

    def on_output(self, module, inputs, output):
        self.output = output.clone().detach()
        output.register_hook(self.on_gradient)

    def on_gradient(self, gradient):
        self.gradient = gradient


def grad_cam(model, layer, x, targets):
    with torch.enable_grad(), Catch(model.get_submodule(layer)) as caught:
        images = x.clone().detach().requires_grad_()
        one_hot = F.one_hot(targets.long(), model(images[:1]).shape[1]).to(x.dtype)
        scores = model(images)
        torch.autograd.grad(scores, images, grad_outputs=one_hot)
    weights = caught.gradient.flatten(2).mean(2)
    heat = (weights[..., None, None] * caught.output).sum(dim=1)
    return heat.clamp_min(0)
