class OptimizerInBackward:
    """One optimizer skips parameters without a gradient, and at each moment only one parameter has one."""

    def __init__(self, model, make_optimizer):
        self.parameters = list(model.parameters())
        self.optimizer = make_optimizer(self.parameters)

    def __enter__(self):
        def hook(parameter):
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)

        self.handles = [p.register_post_accumulate_grad_hook(hook) for p in self.parameters if p.requires_grad]
        return self

    def __exit__(self, *error):
        while self.handles:
            self.handles.pop().remove()
