# misconception: takes the mode of the whole model | hint: mode_lost
def replace_modules(model, wanted, make):
    made = {}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if wanted(module):
            if module not in made:
                made[module] = make(module).train(model.training)
            model.set_submodule(name, made[module])
    return model
