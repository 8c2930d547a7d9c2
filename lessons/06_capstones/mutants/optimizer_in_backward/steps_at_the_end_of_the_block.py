# misconception: steps when the block ends | hint: optimizer_never_steps
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters() if p.requires_grad}

        def hook(parameter):
            self.ready.append(parameter)

        self.handles, self.ready = [], []
        for parameter in self.optimizers:
            self.handles.append(parameter.register_post_accumulate_grad_hook(hook))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
        for parameter in self.ready:
            self.optimizers[parameter].step()
            parameter.grad = None
