# misconception: rebinds the loop variable | hint: place_cannot_be_rebound
def replace_modules(model, wanted, make):
    for name, module in model.named_modules():
        if wanted(module):
            module = make(module).train(module.training)
    return model
