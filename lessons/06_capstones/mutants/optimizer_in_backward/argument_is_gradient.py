# misconception: takes the hook's argument for the gradient | hint: optimizer_parameter_for_gradient
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters() if p.requires_grad}

        def hook(parameter, grad):
            with torch.no_grad():
                parameter -= self.optimizers[parameter].defaults["lr"] * grad
            parameter.grad = None

        self.handles = []
        for parameter in self.optimizers:
            self.handles.append(parameter.register_post_accumulate_grad_hook(partial(hook, parameter)))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
