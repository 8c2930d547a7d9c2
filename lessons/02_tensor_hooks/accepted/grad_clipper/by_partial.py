def _clip(grad, floor, cap):
    return torch.clamp(grad, floor, cap)


def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(partial(_clip, floor=floor, cap=cap))
    return model
