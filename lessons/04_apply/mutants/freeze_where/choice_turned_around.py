# misconception: freezes the rest | hint: freezes_the_rest
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        for parameter in module.parameters(recurse=False):
            parameter.requires_grad = choose(module) == frozen
    return model
