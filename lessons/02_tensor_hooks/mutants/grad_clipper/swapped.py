# misconception: floor and cap swapped | hint: limits_swapped
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(cap, floor))
    return model
