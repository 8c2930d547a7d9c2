model = Model(shape=(3, 3))


class Linear(nn.Module):
    def forward(self, X):
        return F.linear(X, self.W.t(), self.b)


def make_linear(module):
    if type(module).__name__.startswith("Function_"):
        if getattr(module, "b", None) is None:
            module.b = Parameter(module.W.new_zeros(module.W.shape[-1]))
        module.__class__ = type(type(module).__name__, (Linear,), {})


model.apply(make_linear)
