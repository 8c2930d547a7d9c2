# misconception: a scalar instead of one element | hint: init_shape
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W = Parameter(torch.tensor(1.0))


returned_module = model.apply(weight_initialization)
