# misconception: parameters of direct Linear children | hint: optimizer_misses_some
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.optimizers = {p: self.make_optimizer([p]) for m in self.model.children() if isinstance(m, nn.Linear) for p in m.parameters() if p.requires_grad}

        def hook(parameter):
            self.optimizers[parameter].step()
            parameter.grad = None

        self.handles = []
        for parameter in self.optimizers:
            self.handles.append(parameter.register_post_accumulate_grad_hook(hook))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
