# misconception: only the floor | hint: one_limit_only
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: torch.clamp(grad, floor))
    return model
