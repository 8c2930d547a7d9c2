# misconception: calls the function instead of handing it over | hint: cell_stopped
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)


returned_module = model.apply(weight_initialization(model))
