# misconception: asks the direct children only | hint: freezes_first_level
def freeze_where(model, choose, frozen=True):
    for child in model.children():
        if choose(child):
            child.requires_grad_(not frozen)
            child.train(not frozen)
    return model
