# misconception: b has the size of the input | hint: linear_bias_shape
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[0]))
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)
