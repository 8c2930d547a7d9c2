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
