# misconception: makes b anew each time | hint: second_time_anew
def linear_forward(self, X):
    return X @ self.W + self.b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(linear_forward, module)


model = Model(shape=(3, 3))
model.apply(make_linear)
