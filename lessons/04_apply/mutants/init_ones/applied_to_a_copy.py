# misconception: applies it to another model | hint: not_applied
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)


returned_module = Model().apply(weight_initialization)
