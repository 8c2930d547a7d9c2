# misconception: sets forward on the class | hint: forward_class_patched
def linear_forward(self, X):
    return X @ self.W + self.b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if "b" not in module._parameters:
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        type(module).forward = linear_forward


model = Model(shape=(3, 3))
model.apply(make_linear)
