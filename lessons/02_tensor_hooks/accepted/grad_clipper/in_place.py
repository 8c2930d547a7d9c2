def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp_(floor, cap))
    return model
