# misconception: clips the first pass only | hint: runs_only_once
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        handles = []

        def hook(grad, handles=handles):
            handles[0].remove()
            return grad.clamp(floor, cap)

        handles.append(parameter.register_hook(hook))
    return model
