# misconception: thinks that apply puts in what the function returns | hint: old_forward_runs
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        layer = nn.Linear(2, 2)
        layer.weight, layer.bias = module.W, module.b
        return layer
    return module


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
