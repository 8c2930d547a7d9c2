# misconception: sets those that are not chosen, too | hint: freezes_the_unchosen
def freeze_where(model, choose, frozen=True):
    chosen = {id(p) for module in model.modules() if choose(module) for p in module.parameters()}
    inside = {part for module in model.modules() if choose(module) for part in module.modules()}
    for parameter in model.parameters():
        parameter.requires_grad = (id(parameter) not in chosen) or not frozen
    for module in inside:
        module.training = not frozen
    return model
