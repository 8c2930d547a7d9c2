# misconception: recurses into what it has put in | hint: replacement_replaced_again
def replace_modules(model, wanted, make):
    for name, child in model.named_children():
        if wanted(child):
            setattr(model, name, make(child).train(child.training))
        replace_modules(getattr(model, name), wanted, make)
    return model
