# misconception: each hook removes itself when it has run | hint: optimizer_once
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters() if p.requires_grad}

        def hook(parameter):
            self.optimizers[parameter].step()
            parameter.grad = None
            handle_of[parameter].remove()

        handle_of = {}

        self.handles = []
        for parameter in self.optimizers:
            handle_of[parameter] = parameter.register_post_accumulate_grad_hook(hook)
            self.handles.append(handle_of[parameter])
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
