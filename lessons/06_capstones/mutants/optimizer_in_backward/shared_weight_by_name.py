# misconception: names of a shared weight are counted, so it gets two hooks that share one state | hint: optimizer_shared_twice
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.named = list(model.named_parameters(remove_duplicate=False))
        self.optimizers = {name: make_optimizer([p]) for name, p in self.named if p.requires_grad}

    def __enter__(self):
        self.handles = []
        for name, p in self.named:
            if name in self.optimizers:
                self.handles.append(p.register_post_accumulate_grad_hook(partial(self.hook, name)))
        return self

    def hook(self, name, p):
        grad = p.grad.clone() if p.grad is not None else self.last
        p.grad = grad
        self.optimizers[name].step()
        self.last, p.grad = grad, None

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
