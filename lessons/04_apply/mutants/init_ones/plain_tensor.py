# misconception: assigns a tensor to a Parameter's name | hint: tensor_for_parameter
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W = torch.ones(1)


returned_module = model.apply(weight_initialization)
