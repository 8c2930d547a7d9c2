# misconception: works on a copy | hint: copied_model
def replace_modules(model, wanted, make):
    new_model = copy.deepcopy(model)
    for name, module in list(new_model.named_modules(remove_duplicate=False)):
        if wanted(module):
            new_model.set_submodule(name, make(module).train(module.training))
    return new_model
