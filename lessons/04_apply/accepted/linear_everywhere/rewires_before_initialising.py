model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.ones(2))


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, out: F.linear(args[0], m.W.t(), bias=m.b), prepend=True)


def weight_initialization(module):
    if hasattr(module, "W"):
        torch.nn.init.constant_(module.W, 1)
        torch.nn.init.constant_(module.b, 1)


returned_module = model.apply(add_bias).apply(linear_transformation).apply(weight_initialization)
