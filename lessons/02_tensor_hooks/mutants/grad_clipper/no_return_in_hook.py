# misconception: the hook returns nothing | hint: hook_returns_nothing
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        def hook(grad):
            grad.clamp(floor, cap)

        parameter.register_hook(hook)
    return model
