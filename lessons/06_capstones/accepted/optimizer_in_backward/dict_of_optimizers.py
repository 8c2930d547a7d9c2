class OptimizerInBackward:
    def __init__(self, model, make_optimizer):
        self.model = model
        self.optimizer_dict = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}

    def optimizer_hook(self, parameter) -> None:
        self.optimizer_dict[parameter].step()
        self.optimizer_dict[parameter].zero_grad()

    def __enter__(self):
        self.handles = []
        for p in self.optimizer_dict:
            self.handles.append(p.register_post_accumulate_grad_hook(self.optimizer_hook))
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        for handle in self.handles:
            handle.remove()
