# misconception: the module in a default argument | hint: copy_remembers_original
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))

        def forward(X, self=module):
            return X @ self.W + self.b

        module.forward = forward


model = Model(shape=(3, 3)).apply(make_linear)
