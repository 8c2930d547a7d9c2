# misconception: limits in globals | hint: limits_shared
def grad_clipper(model, floor, cap):
    global lowest, highest
    lowest, highest = floor, cap
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(lowest, highest))
    return model
