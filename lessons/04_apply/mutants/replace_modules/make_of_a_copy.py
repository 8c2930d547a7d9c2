# misconception: hands a copy of the old module to make | hint: make_gets_a_copy
def replace_modules(model, wanted, make):
    made = {}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if wanted(module):
            if module not in made:
                made[module] = make(copy.deepcopy(module)).train(module.training)
            model.set_submodule(name, made[module])
    return model
