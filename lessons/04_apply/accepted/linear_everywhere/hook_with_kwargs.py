model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.ones(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W = Parameter(torch.ones(2, 2))
        module.b = Parameter(torch.ones(2))


class Linear:
    def __call__(self, module, args, kwargs, output):
        (X,) = args or tuple(kwargs.values())
        return torch.addmm(module.b, X, module.W)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(Linear(), with_kwargs=True)


for fn in (add_bias, weight_initialization, linear_transformation):
    returned_module = model.apply(fn)
