# misconception: gives b to every module | hint: not_every_module_has_it
def make_linear(module):
    if not hasattr(module, "b"):
        module.b = Parameter(torch.zeros(module.W.shape[1]))
    module.forward = partial(lambda self, X: X @ self.W + self.b, module)
