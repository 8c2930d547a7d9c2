def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        def hook(grad):
            new = grad.clone()
            new[new < floor] = floor
            new[new > cap] = cap
            return new

        parameter.register_hook(hook)
    return model
