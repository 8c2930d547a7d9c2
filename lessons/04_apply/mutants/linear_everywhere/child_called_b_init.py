# misconception: hasattr is also true for the child b of Layer_AB | hint: child_of_that_name
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
    if hasattr(module, "b"):
        nn.init.ones_(module.b)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
