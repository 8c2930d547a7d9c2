# misconception: add_module with a dotted name | hint: dotted_setattr
def replace_modules(model, wanted, make):
    for name, module in list(model.named_modules()):
        if wanted(module):
            model.add_module(name, make(module).train(module.training))
    return model
