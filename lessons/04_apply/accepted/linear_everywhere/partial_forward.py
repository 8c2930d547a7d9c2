model = Model(shape=(2, 2))


def add_bias(module):
    if "Function" in type(module).__name__:
        module.b = Parameter(torch.Tensor(2))


def weight_initialization(module):
    for parameter in module.parameters(recurse=False):
        nn.init.ones_(parameter)


def linear_forward(self, X):
    return X @ self.W + self.b


def linear_transformation(module):
    if "Function" in type(module).__name__:
        module.forward = partial(linear_forward, module)


returned_module = model.apply(add_bias).apply(weight_initialization).apply(linear_transformation)
