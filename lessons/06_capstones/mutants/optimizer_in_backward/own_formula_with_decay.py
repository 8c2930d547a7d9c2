# misconception: SGD's formula with weight decay, but without momentum | hint: optimizer_state_lost
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters() if p.requires_grad}

        def hook(parameter):
            group = self.optimizers[parameter].param_groups[0]
            with torch.no_grad():
                parameter.sub_(group["lr"] * (parameter.grad + group["weight_decay"] * parameter))
            parameter.grad = None

        self.handles = []
        for parameter in self.optimizers:
            self.handles.append(parameter.register_post_accumulate_grad_hook(hook))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
