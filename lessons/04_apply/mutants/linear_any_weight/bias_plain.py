# misconception: b is a plain tensor | hint: tensor_for_parameter
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = torch.zeros(module.W.shape[1], requires_grad=True)
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)
