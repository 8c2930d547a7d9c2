# misconception: another value | hint: another_constant
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.zeros_(module.W)


returned_module = model.apply(weight_initialization)
