# misconception: replaces direct children only | hint: first_level_only
def replace_modules(model, wanted, make):
    for name, child in model.named_children():
        if wanted(child):
            setattr(model, name, make(child).train(child.training))
    return model
