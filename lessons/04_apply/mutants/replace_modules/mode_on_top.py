# misconception: sets the flag of the outermost module only | hint: mode_on_top_only
def replace_modules(model, wanted, make):
    made = {}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if wanted(module):
            if module not in made:
                made[module] = make(module)
                made[module].training = module.training
            model.set_submodule(name, made[module])
    return model
