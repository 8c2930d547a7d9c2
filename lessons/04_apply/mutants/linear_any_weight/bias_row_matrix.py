# misconception: b is a row matrix | hint: linear_bias_shape
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(1, module.W.shape[1]))
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)
