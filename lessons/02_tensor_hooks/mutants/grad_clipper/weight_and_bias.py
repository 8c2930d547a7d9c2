# misconception: only weight and bias of each module | hint: not_every_parameter
def grad_clipper(model, floor, cap):
    for module in model.modules():
        if hasattr(module, "weight"):
            module.weight.register_hook(lambda grad: grad.clamp(floor, cap))
            module.bias.register_hook(lambda grad: grad.clamp(floor, cap))
    return model
