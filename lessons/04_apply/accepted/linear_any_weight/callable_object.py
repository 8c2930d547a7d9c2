class LinearForward:
    def __init__(self, module):
        self.module = module

    def __call__(self, X):
        return torch.matmul(X, self.module.W) + self.module.b


def make_linear(module):
    if hasattr(module, "W"):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = LinearForward(module)


model = Model(shape=(3, 3))
model.apply(make_linear)
