# misconception: adds no b | hint: bias_missing
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(lambda self, X: X @ self.W + b, module)
