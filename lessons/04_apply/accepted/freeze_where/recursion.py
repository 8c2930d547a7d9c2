def freeze_where(model, choose, frozen=True, inside=False):
    inside = inside or choose(model)
    if inside:
        for parameter in model.parameters(recurse=False):
            parameter.requires_grad = not frozen
        model.training = not frozen
    for child in model.children():
        freeze_where(child, choose, frozen, inside)
    return model
