model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.ones(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.ones_(module.W)
        nn.init.ones_(module.b)


def linear_transformation(module):
    if hasattr(module, "W"):
        layer = nn.Linear(2, 2)
        layer.weight, layer.bias = module.W, module.b
        module.forward = layer.forward


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
