# misconception: rewires whatever has a b | hint: child_of_that_name
def make_linear(module):
    if "Function" in type(module).__name__ and not hasattr(module, "b"):
        module.b = Parameter(torch.zeros(module.W.shape[1]))
    if hasattr(module, "b"):
        width = module.b.shape[0]
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)
