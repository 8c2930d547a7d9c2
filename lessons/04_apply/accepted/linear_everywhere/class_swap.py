model = Model(shape=(2, 2))


class LinearFunction(nn.Module):
    def forward(self, X):
        return torch.einsum("ij,jk->ik", X, self.W) + self.b


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.randn(2))


def weight_initialization(module):
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.data = torch.ones_like(parameter)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.__class__ = type(type(module).__name__, (LinearFunction,), {})


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
