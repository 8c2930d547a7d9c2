# misconception: b begins with random values | hint: wrong_start
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.rand(module.W.shape[1]))
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)
