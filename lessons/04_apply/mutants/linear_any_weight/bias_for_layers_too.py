# misconception: gives b to the layers too | hint: touches_other_modules
def make_linear(module):
    if not hasattr(module, "b"):
        width = module.W.shape[1] if hasattr(module, "W") else 3
        module.b = Parameter(torch.zeros(width))
    if hasattr(module, "W"):
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)
