# misconception: computes with W.data | hint: gradient_cut
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(lambda self, X: X @ self.W.data + self.b, module)
