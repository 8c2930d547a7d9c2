def grad_clipper(model, floor, cap):
    for module in model.modules():
        for parameter in module.parameters(recurse=False):
            parameter.register_hook(lambda grad: F.hardtanh(grad, floor, cap))
    return model
