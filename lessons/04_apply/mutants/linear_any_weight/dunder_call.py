# misconception: sets __call__ on the object | hint: dunder_on_instance
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.__call__ = partial(lambda self, X: X @ self.W + self.b, module)
