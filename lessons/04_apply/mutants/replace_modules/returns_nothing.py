# misconception: returns nothing | hint: returns_nothing
def replace_modules(model, wanted, make):
    made = {}
    for name, old in list(model.named_modules(remove_duplicate=False)):
        if wanted(old):
            made[old] = made.get(old) or make(old).train(old.training)
            model.set_submodule(name, made[old])
