# misconception: a shared weight is met twice on a walk over the modules, and steps twice | hint: optimizer_shared_twice
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.handles = []
        for module in self.model.modules():
            for parameter in module.parameters(recurse=False):
                if parameter.requires_grad:
                    step = partial(self.step, self.make_optimizer([parameter]))
                    self.handles.append(parameter.register_post_accumulate_grad_hook(step))
        for parameter in self.model.parameters():
            if parameter.requires_grad:
                self.handles.append(parameter.register_post_accumulate_grad_hook(self.release))
        return self

    def step(self, optimizer, parameter):
        optimizer.step()

    def release(self, parameter):
        parameter.grad = None

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
