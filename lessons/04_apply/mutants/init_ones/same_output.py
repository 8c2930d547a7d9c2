# misconception: any equal value lets the model return its input | hint: equal_but_not_one
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(2.7)


returned_module = model.apply(weight_initialization)
