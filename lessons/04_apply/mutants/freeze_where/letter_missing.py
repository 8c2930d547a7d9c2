# misconception: a letter is missing in requires_grad | hint: freezes_nothing
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            for parameter in module.parameters():
                parameter.require_grad = not frozen
            module.train(not frozen)
    return model
