# %% another_class
model = Model(shape=(3, 3))


class Linear(nn.Module):
    def forward(self, X):
        return F.linear(X, self.W.t(), self.b)


def make_linear(module):
    if type(module).__name__.startswith("Function_"):
        if getattr(module, "b", None) is None:
            module.b = Parameter(module.W.new_zeros(module.W.shape[-1]))
        module.__class__ = type(type(module).__name__, (Linear,), {})


model.apply(make_linear)

# %% callable_object
class LinearForward:
    def __init__(self, module):
        self.module = module

    def __call__(self, X):
        return torch.matmul(X, self.module.W) + self.module.b


def make_linear(module):
    if "Function" in type(module).__name__:
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = LinearForward(module)


model = Model(shape=(3, 3))
model.apply(make_linear)

# %% identity_and_one_hook
def make_linear(module):
    if "Function" in str(type(module)) and "b" not in module._parameters:
        module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = lambda X: X
        module.register_forward_hook(lambda m, args, X: X @ m.W + m.b)

# %% method_type
import types

model = Model(shape=(3, 3))


def forward(self, X):
    return torch.addmm(self.b, X, self.W)


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.register_parameter("b", Parameter(torch.zeros(module.W.size(1))))
        module.forward = types.MethodType(forward, module)


model.apply(make_linear)

# %% partial_of_tensors
def linear(W, b, X):
    return X @ W + b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)) and not hasattr(module, "b"):
        module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(linear, module.W, module.b)

# %% partial_with_keyword
model = Model(shape=(3, 3))


def linear(X, layer):
    return torch.einsum("ij,jk->ik", X, layer.W) + layer.b


def make_linear(module: nn.Module) -> None:
    if not isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        return
    if "b" not in dict(module.named_parameters()):
        module.b = Parameter(torch.zeros(module.W[0].numel()))
    module.forward = partial(linear, layer=module)


model.apply(make_linear)
