# misconception: the arguments of a module hook | hint: hook_arguments
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda module, grad: grad.clamp(floor, cap))
    return model
