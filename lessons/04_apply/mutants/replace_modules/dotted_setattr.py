# misconception: setattr with a dotted name | hint: dotted_setattr
def replace_modules(model, wanted, make):
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if name and wanted(module):
            setattr(model, name, make(module).train(module.training))
    return model
