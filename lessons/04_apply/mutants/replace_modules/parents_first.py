# misconception: walks into its own replacements | hint: replacement_replaced_again
def replace_modules(model, wanted, make):
    for parent in model.modules():
        for name, child in parent.named_children():
            if wanted(child):
                setattr(parent, name, make(child).train(child.training))
    return model
