from torch.func import functional_call, vjp, vmap


class PerSampleGradients:
    """From the model's own input and the gradient at its output: one vector-Jacobian product for each sample."""

    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        def hook(module, args, output):
            self.x = args[0].detach()
            output.register_hook(self.keep)

        self.handle = self.model.register_forward_hook(hook)
        return self

    def keep(self, grad):
        self.grad = grad * len(grad) if self.reduction == "mean" else grad

    def __exit__(self, kind, *rest):
        self.handle.remove()
        if kind is not None:
            return
        names = [
            f"{layer}.{name}"
            for layer, module in self.model.named_modules()
            if isinstance(module, nn.Linear)
            for name, _ in module.named_parameters(recurse=False)
        ]
        params = {name: self.model.get_parameter(name).detach() for name in names}

        def one(x, g):
            _, pull = vjp(lambda p: functional_call(self.model, p, (x[None],))[0], params)
            return pull(g)[0]

        self.gradients.update(vmap(one)(self.x, self.grad))
