# misconception: what it writes depends on what was there | hint: depends_on_old_value
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data /= module.W.data


returned_module = model.apply(weight_initialization)
