# misconception: limits on the function object | hint: limits_shared
def grad_clipper(model, floor, cap):
    grad_clipper.limits = (floor, cap)
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(*grad_clipper.limits))
    return model
