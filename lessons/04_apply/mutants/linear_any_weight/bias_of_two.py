# misconception: the size of the other exercise | hint: linear_bias_shape
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(2))
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)
