# misconception: works on the notebook's model, not on the module it is given | hint: apply_uses_global_model
model = Model(shape=(2, 2))


parts = [model.ab.a, model.ab.b, model.cd.c, model.cd.d]


def add_bias(module):
    for part in parts:
        part.b = Parameter(torch.rand(2))


def weight_initialization(module):
    for part in parts:
        part.W.data.fill_(1)
        part.b.data.fill_(1)


def linear_transformation(module):
    for part in parts:
        part.forward = partial(lambda self, X: X @ self.W + self.b, part)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
