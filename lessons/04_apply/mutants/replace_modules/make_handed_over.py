# misconception: puts in what makes the module, not what is made | hint: function_for_module
def replace_modules(model, wanted, make):
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if wanted(module):
            parent, _, last = name.rpartition(".")
            setattr(model.get_submodule(parent), last, make)
    return model
