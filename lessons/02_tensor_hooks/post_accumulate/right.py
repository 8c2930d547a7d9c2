# %% a_class
class Accumulator:
    def __init__(self, parameter):
        self.total = torch.zeros(parameter.size(), dtype=torch.float32, device=parameter.device)
        parameter.grad = None
        self.handle = parameter.register_post_accumulate_grad_hook(self)

    def __call__(self, parameter):
        with torch.no_grad():
            self.total += parameter.grad
        parameter.grad = None


def accumulate_in_float32(model):
    return {name: Accumulator(p).total for name, p in model.named_parameters() if p.requires_grad}

# %% default_arguments
def accumulate_in_float32(model):
    sums = {}
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        sums[name] = torch.zeros(p.shape)
        p.grad = None

        def hook(param, name=name):
            sums[name] += param.grad.float()
            param.grad = None

        p.register_post_accumulate_grad_hook(hook)
    return sums

# %% names_by_parameter
def accumulate_in_float32(model):
    names = {p: n for n, p in model.named_parameters() if p.requires_grad}
    sums = {n: p.detach().float().mul(0) for p, n in names.items()}

    def hook(p):
        sums[names[p]].add_(p.grad)
        p.grad = None

    for p in names:
        p.grad = None
        p.register_post_accumulate_grad_hook(hook)
    return sums

# %% new_tensor_each_pass
def accumulate_in_float32(model: nn.Module) -> dict:
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    sums = {name: torch.zeros_like(p, dtype=torch.float) for name, p in trainable.items()}

    def make_hook(name):
        def hook(p):
            sums[name] = sums[name] + p.grad.to(torch.float32)
            del p.grad
            return p

        return hook

    for name, p in trainable.items():
        p.grad = None
        p.register_post_accumulate_grad_hook(make_hook(name))
    return sums

# %% tensor_hook_and_post_hook
def accumulate_in_float32(model):
    sums = {}

    def add(total, grad):
        total += grad.float()

    def empty(parameter):
        parameter.grad = None

    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            empty(parameter)
            sums[name] = torch.zeros(*parameter.shape, dtype=torch.float32)
            parameter.register_hook(partial(add, sums[name]))
            parameter.register_post_accumulate_grad_hook(empty)
    return sums

# %% adds_without_a_cast
def accumulate_in_float32(model):
    sums = {name: torch.zeros(p.shape) for name, p in model.named_parameters() if p.requires_grad}
    for name, p in model.named_parameters():
        if p.requires_grad:
            p.grad = None

            def hook(p, name=name):
                sums[name] = sums[name] + p.grad
                p.grad = None

            p.register_post_accumulate_grad_hook(hook)
    return sums
