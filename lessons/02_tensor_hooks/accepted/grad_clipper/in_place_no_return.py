def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        def hook(grad):
            grad.clamp_(min=floor, max=cap)

        parameter.register_hook(hook)
    return model
