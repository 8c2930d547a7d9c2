# misconception: keeps the values of the moment | hint: stale_weights
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        W = module.W.detach().clone()
        module.forward = partial(lambda self, X: X @ W + self.b, module)
