# misconception: a new module is in training mode | hint: mode_lost
def replace_modules(model, wanted, make):
    made = {}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if wanted(module):
            if module not in made:
                made[module] = make(module)
            model.set_submodule(name, made[module])
    return model
