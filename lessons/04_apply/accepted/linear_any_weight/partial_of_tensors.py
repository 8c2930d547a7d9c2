def linear(W, b, X):
    return X @ W + b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)) and not hasattr(module, "b"):
        module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(linear, module.W, module.b)
