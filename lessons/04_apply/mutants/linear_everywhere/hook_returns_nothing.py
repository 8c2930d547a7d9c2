# misconception: rebinds output, returns nothing | hint: linear_hook_returns_nothing
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        output = input[0] @ module.W + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
