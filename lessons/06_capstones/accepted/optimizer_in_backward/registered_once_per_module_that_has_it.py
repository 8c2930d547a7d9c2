class OptimizerInBackward:
    """A shared weight gets two hooks; the second one finds no gradient any more and does nothing."""

    def __init__(self, model, make_optimizer):
        self.model, self.make_optimizer = model, make_optimizer

    def __enter__(self):
        self.handles = []
        optimizers = {}
        for module in self.model.modules():
            for name, p in module.named_parameters(recurse=False):
                if p.requires_grad:
                    optimizers.setdefault(p, self.make_optimizer([p]))
                    self.handles.append(p.register_post_accumulate_grad_hook(partial(self.update, optimizers)))
        return self

    @staticmethod
    def update(optimizers, p):
        if p.grad is not None:
            optimizers[p].step()
            p.grad = None

    def __exit__(self, *_):
        for handle in self.handles:
            handle.remove()
