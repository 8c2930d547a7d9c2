# misconception: only parameters called weight | hint: not_every_parameter
def grad_clipper(model, floor, cap):
    for name, parameter in model.named_parameters():
        if name.endswith("weight"):
            parameter.register_hook(lambda grad: grad.clamp(floor, cap))
    return model
