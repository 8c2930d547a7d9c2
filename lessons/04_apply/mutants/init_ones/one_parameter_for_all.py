# misconception: stores one Parameter on all modules | hint: shared_parameter
model = Model()
one = Parameter(torch.ones(1))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W = one


returned_module = model.apply(weight_initialization)
