# misconception: limits that nobody defined | hint: undefined_name
def grad_clipper(model, *val):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(lowest, highest))
    return model
