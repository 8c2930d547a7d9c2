class OptimizerInBackward:
    """The optimizer releases the gradient itself, in a hook of its own that runs after each step."""

    def __init__(self, model, make_optimizer):
        self.model = model
        self.make_optimizer = make_optimizer
        self.handles = []

    def __enter__(self):
        seen = set()
        for module in self.model.modules():
            for parameter in module.parameters(recurse=False):
                if parameter.requires_grad and parameter not in seen:
                    seen.add(parameter)
                    optimizer = self.make_optimizer([parameter])
                    optimizer.register_step_post_hook(lambda opt, args, kwargs: opt.zero_grad())
                    self.handles.append(
                        parameter.register_post_accumulate_grad_hook(lambda _, optimizer=optimizer: self.step(optimizer))
                    )
        return self

    def step(self, optimizer):
        optimizer.step()

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
        self.handles.clear()
