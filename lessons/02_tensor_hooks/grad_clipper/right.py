# %% boolean_mask
def grad_clipper(model, floor, cap):
    def hook(grad):
        new = grad.clone()
        new[new < floor] = floor
        new[new > cap] = cap
        return new

    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.register_hook(hook)
    return model

# %% by_partial
def _clip(grad, floor, cap):
    return torch.clamp(grad, floor, cap)


def grad_clipper(model, floor, cap):
    for parameter in filter(lambda p: p.requires_grad, model.parameters()):
        parameter.register_hook(partial(_clip, floor=floor, cap=cap))
    return model

# %% every_module
def grad_clipper(model, floor, cap):
    for module in model.modules():
        for parameter in module.parameters(recurse=False):
            if parameter.requires_grad:
                parameter.register_hook(lambda grad: F.hardtanh(grad, floor, cap))
    return model

# %% min_and_max
def grad_clipper(model, floor, cap):
    [p.register_hook(lambda g: torch.min(torch.max(g, torch.full_like(g, floor)), torch.full_like(g, cap))) for p in model.parameters() if p.requires_grad]
    return model

# %% with_where
class Clip:
    def __init__(self, floor, cap):
        self.floor, self.cap = floor, cap

    def __call__(self, grad):
        grad = torch.where(grad < self.floor, self.floor, grad)
        return torch.where(grad > self.cap, self.cap, grad)


def grad_clipper(model, floor, cap):
    clip = Clip(floor, cap)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parameter.register_hook(clip)
    return model
