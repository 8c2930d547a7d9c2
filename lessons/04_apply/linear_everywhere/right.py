# %% class_swap
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

# %% functional_linear
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
        module.forward = lambda X: F.linear(X, module.W, bias=module.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% rewires_before_initialising
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

# %% seed_pasted_whole
model = Model()


def add_bias(module):
    module_name = module.__class__.__name__
    if module_name.split("_")[0] == "Function":
        module.b = Parameter(torch.rand(2,), requires_grad=True)


def weight_initialization(module):
    module_name = module.__class__.__name__
    if module_name.split("_")[0] == "Function":
        module.W.data.fill_(1.0)
        module.b.data.fill_(1.0)


def linear_transformation(module):
    module_name = module.__class__.__name__

    def hook(moudle, input, output):
        output = torch.matmul(input[0], module.W.T) + module.b
        return output

    if module_name == "Function_A":
        module.register_forward_hook(hook)
    elif module_name == "Function_B":
        module.register_forward_hook(hook)
    elif module_name == "Function_C":
        module.register_forward_hook(hook)
    elif module_name == "Function_D":
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% ones_by_birth
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.ones(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.ones_(module.W)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.forward = lambda X: X @ module.W + module.b


returned_module = model.apply(add_bias).apply(weight_initialization).apply(linear_transformation)

# %% ones_of_numpy
import numpy as np

model = Model(shape=(2, 2)).double()


def add_bias(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        module.b = Parameter(torch.from_numpy(np.zeros(2)))


def weight_initialization(module):
    for name, one in module.named_parameters(recurse=False):
        one.data = torch.from_numpy(np.ones(one.shape))


def linear_transformation(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        module.register_forward_hook(lambda module, args, output: args[0] @ module.W + module.b)


for step in (add_bias, weight_initialization, linear_transformation):
    returned_module = model.apply(step)
