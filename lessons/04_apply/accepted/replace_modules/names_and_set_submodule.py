def replace_modules(model, wanted, make):
    made = {}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if name and wanted(module):
            if module not in made:
                new = make(module)
                new.train(module.training)
                made[module] = new
            model.set_submodule(name, made[module])
    return model
