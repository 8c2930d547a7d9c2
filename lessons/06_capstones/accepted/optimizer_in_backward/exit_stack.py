from contextlib import ExitStack


def make_hook(optimizer):
    def hook(parameter):
        optimizer.step()
        del parameter.grad

    return hook


class OptimizerInBackward(ExitStack):
    def __init__(self, model, make_optimizer):
        super().__init__()
        self.pairs = [(p, make_optimizer([p])) for _, p in model.named_parameters() if p.requires_grad]

    def __enter__(self):
        for parameter, optimizer in self.pairs:
            self.enter_context(parameter.register_post_accumulate_grad_hook(make_hook(optimizer)))
        return super().__enter__()
