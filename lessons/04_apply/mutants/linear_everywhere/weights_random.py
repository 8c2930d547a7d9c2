# misconception: adds b, initialises nothing | hint: apply_changes_nothing
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    W, b = torch.ones(2, 2), torch.ones(2)
    return W, b


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
