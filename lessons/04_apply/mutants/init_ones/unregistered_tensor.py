# misconception: replaces the Parameter by an attribute that is not registered | hint: tensor_for_parameter
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        del module.W
        module.W = torch.ones(1, requires_grad=True)


returned_module = model.apply(weight_initialization)
