# misconception: puts the whole model into eval mode | hint: mode_of_everything
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            module.requires_grad_(not frozen)
    return model.train(not frozen)
