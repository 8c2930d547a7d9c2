# misconception: thinks that eval mode freezes | hint: freezes_nothing
def freeze_where(model, choose, frozen=True):
    return model.apply(lambda module: module.train(not frozen) if choose(module) else None)
