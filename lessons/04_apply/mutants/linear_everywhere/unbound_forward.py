# misconception: a plain function on an object gets no self | hint: unbound_function
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def new_forward(self, X):
    return X @ self.W + self.b


def linear_transformation(module):
    if hasattr(module, "W"):
        module.forward = new_forward


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
