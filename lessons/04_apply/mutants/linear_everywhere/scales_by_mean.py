# misconception: right only where all weights are equal | hint: right_for_equal_weights
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
        return input[0].sum(1, keepdim=True) * module.W.mean() + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
