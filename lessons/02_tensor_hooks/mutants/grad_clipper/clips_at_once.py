# misconception: clips before there is a gradient | hint: no_hook_on_it
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad.clamp_(floor, cap)
    return model
