# misconception: reaches one class only | hint: apply_misses_some
model = Model()


def weight_initialization(module):
    if module.__class__.__name__ == "Function_A":
        module.W.data.fill_(1)


returned_module = model.apply(weight_initialization)
