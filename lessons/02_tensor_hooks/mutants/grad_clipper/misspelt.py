# misconception: a misspelt method, found only in backward | hint: unknown_method
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.climp_(floor, cap))
    return model
