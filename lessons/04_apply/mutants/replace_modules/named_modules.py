# misconception: named_modules shows each object once | hint: shared_place_missed
def replace_modules(model, wanted, make):
    for name, module in list(model.named_modules()):
        if wanted(module):
            model.set_submodule(name, make(module).train(module.training))
    return model
