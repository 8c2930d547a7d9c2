# misconception: freezes the model when it meets a chosen module | hint: freezes_everything
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            model.requires_grad_(not frozen)
            model.train(not frozen)
    return model
