# misconception: initialises before b exists | hint: bias_missing
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
    if hasattr(module, "W") and hasattr(module, "b"):
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
