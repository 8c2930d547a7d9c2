# misconception: registers after the loop | hint: not_every_parameter
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        pass
    parameter.register_hook(lambda grad: grad.clamp(floor, cap))
    return model
