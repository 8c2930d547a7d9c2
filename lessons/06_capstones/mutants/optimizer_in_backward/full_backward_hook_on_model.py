# misconception: one full backward hook on the model, with everything in it | hint: optimizer_step_too_soon
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.optimizer = make_optimizer(list(model.parameters()))

    def __enter__(self):
        def hook(module, grad_input, grad_output):
            self.optimizer.step()
            self.optimizer.zero_grad()

        self.handle = self.model.register_full_backward_hook(hook)
        return self

    def __exit__(self, *error):
        self.handle.remove()
