# misconception: one optimizer steps at each parameter, and the gradients stay until the end | hint: optimizer_steps_too_often
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        parameters = [p for p in self.model.parameters() if p.requires_grad]
        optimizer = self.make_optimizer(parameters)

        def hook(parameter):
            optimizer.step()
            if parameter is parameters[0]:
                optimizer.zero_grad()

        self.handles = []
        for parameter in parameters:
            self.handles.append(parameter.register_post_accumulate_grad_hook(hook))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
