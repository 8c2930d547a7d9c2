def replace_modules(model, wanted, make):
    new_for = {old: make(old).train(mode=old.training) for old in list(model.modules()) if wanted(old)}
    parents = [parent for parent in model.modules() if parent not in new_for]
    for parent in parents:
        for name in list(parent._modules):
            child = getattr(parent, name)
            if child in new_for:
                setattr(parent, name, new_for[child])
    return model
