# misconception: computes under no_grad | hint: gradient_cut
@torch.no_grad()
def forward(self, X):
    return X @ self.W + self.b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(forward, module)
