# misconception: rounds weights that happen to lie near 1 | hint: depends_on_old_value
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.round_().clamp_(1, 1.4)


returned_module = model.apply(weight_initialization)
