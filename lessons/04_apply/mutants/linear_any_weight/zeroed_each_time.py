# misconception: sets b to zero each time | hint: second_time_anew
def linear_forward(self, X):
    return X @ self.W + self.b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.empty(module.W.shape[1]))
        nn.init.zeros_(module.b)
        module.forward = partial(linear_forward, module)
