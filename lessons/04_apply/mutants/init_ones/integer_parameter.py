# misconception: a Parameter of integers | hint: integer_parameter
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W = Parameter(torch.tensor([1]))


returned_module = model.apply(weight_initialization)
