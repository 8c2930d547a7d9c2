# misconception: all hooks of one loop share the variable | hint: apply_late_binding
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    global part
    if hasattr(module, "W"):
        part = module
        module.register_forward_hook(lambda m, args, output: args[0] @ part.W + part.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
