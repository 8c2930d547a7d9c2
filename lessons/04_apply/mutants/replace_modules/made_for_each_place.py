# misconception: one replacement for each place | hint: one_for_each_place
def replace_modules(model, wanted, make):
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if wanted(module):
            model.set_submodule(name, make(module).train(module.training))
    return model
