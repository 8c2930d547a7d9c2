# misconception: keeps something else than what apply returns | hint: wrong_return
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)


model.apply(weight_initialization)
returned_module = weight_initialization
