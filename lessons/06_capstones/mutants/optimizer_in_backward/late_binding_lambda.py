# misconception: lambdas that share the loop's optimizer | hint: optimizer_late_binding
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters() if p.requires_grad}


        self.handles = []
        for parameter, optimizer in self.optimizers.items():
            def hook(p):
                optimizer.step()
                optimizer.zero_grad()

            self.handles.append(parameter.register_post_accumulate_grad_hook(hook))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
