# misconception: the function takes no module | hint: apply_argument
model = Model()


def weight_initialization():
    for parameter in model.parameters():
        parameter.data.fill_(1)


weight_initialization()
returned_module = model
