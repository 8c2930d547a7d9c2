# misconception: only the parameters of direct children | hint: not_every_parameter
def grad_clipper(model, floor, cap):
    for child in model.children():
        for parameter in child.parameters(recurse=False):
            parameter.register_hook(lambda grad: grad.clamp(floor, cap))
    return model
