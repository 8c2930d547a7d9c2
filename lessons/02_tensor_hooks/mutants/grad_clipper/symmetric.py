# misconception: takes the limits to be symmetric | hint: symmetric_limits
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(-cap, cap))
    return model
