# misconception: uses the notebook's model, not the module it is given | hint: apply_uses_global_model
model = Model()


def weight_initialization(module):
    for parameter in model.parameters():
        parameter.data.fill_(1)


returned_module = model.apply(weight_initialization)
