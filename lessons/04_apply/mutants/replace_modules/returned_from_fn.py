# misconception: thinks that apply puts in what the function returns | hint: place_cannot_be_rebound
def replace_modules(model, wanted, make):
    return model.apply(lambda module: make(module) if wanted(module) else module)
