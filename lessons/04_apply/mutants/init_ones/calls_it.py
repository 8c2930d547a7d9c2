# misconception: calls the function instead of handing it over | hint: called_instead_of_given
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)


returned_module = model.apply(weight_initialization(model))
