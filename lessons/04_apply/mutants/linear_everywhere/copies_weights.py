# misconception: copies W and b while apply visits | hint: stale_weights
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        W, b = module.W.detach().clone(), module.b.detach().clone()
        module.forward = lambda X: X @ W + b


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
