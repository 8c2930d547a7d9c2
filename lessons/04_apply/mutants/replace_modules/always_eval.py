# misconception: puts replacements into eval mode | hint: mode_lost
def replace_modules(model, wanted, make):
    made = {}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if wanted(module):
            made[module] = made.get(module) or make(module).eval()
            model.set_submodule(name, made[module])
    return model
