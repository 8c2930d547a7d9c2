# misconception: waits for the last gradient, then steps all at once | hint: optimizer_all_at_the_end
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters() if p.requires_grad}

        def hook(parameter):
            self.waiting.add(parameter)
            if len(self.waiting) == len(self.optimizers):
                for one in self.waiting:
                    self.optimizers[one].step()
                    one.grad = None
                self.waiting.clear()

        self.waiting = set()

        self.handles = []
        for parameter in self.optimizers:
            self.handles.append(parameter.register_post_accumulate_grad_hook(hook))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
