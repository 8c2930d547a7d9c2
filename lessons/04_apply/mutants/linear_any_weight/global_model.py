# misconception: works on the notebook's model | hint: apply_uses_global_model
model = Model(shape=(3, 3))


def make_linear(module):
    for part in (model.ab.a, model.ab.b, model.cd.c, model.cd.d):
        if not hasattr(part, "b"):
            part.b = Parameter(torch.zeros(part.W.shape[1]))
        part.forward = partial(lambda self, X: X @ self.W + self.b, part)


model.apply(make_linear)
