# misconception: full backward hooks on the modules | hint: optimizer_module_hook
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.handles = []
        for module in self.model.modules():
            parameters = [p for p in module.parameters(recurse=False) if p.requires_grad]
            if parameters:
                optimizer = self.make_optimizer(parameters)
                self.handles.append(module.register_full_backward_hook(partial(self.step, optimizer)))
        return self

    def step(self, optimizer, module, grad_input, grad_output):
        optimizer.step()
        optimizer.zero_grad()

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
