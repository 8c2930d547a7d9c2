import types

model = Model(shape=(3, 3))


def forward(self, X):
    return torch.addmm(self.b, X, self.W)


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.register_parameter("b", Parameter(torch.zeros(module.W.size(1))))
        module.forward = types.MethodType(forward, module)


model.apply(make_linear)
