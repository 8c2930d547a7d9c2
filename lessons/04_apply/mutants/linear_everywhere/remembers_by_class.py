# misconception: keeps the parameters by class name, so a second tree shares them | hint: shares_between_trees
model = Model(shape=(2, 2))
known = {}


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        owner = known.setdefault(type(module).__name__, module)
        module.forward = lambda X: X @ owner.W + owner.b


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
