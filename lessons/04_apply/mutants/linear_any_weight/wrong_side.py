# misconception: W on the left | hint: weight_turned_over
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(lambda self, X: self.W @ X + self.b, module)
