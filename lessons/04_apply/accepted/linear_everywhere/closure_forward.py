model = Model(shape=(2, 2))


def is_function(module):
    return type(module).__name__[:-1] == "Function_"


def add_bias(module):
    if is_function(module):
        setattr(module, "b", Parameter(module.W.new_empty(2)))


def weight_initialization(module):
    if is_function(module):
        module.W.data = torch.ones(2, 2)
        module.b.data = torch.ones(2)


def linear_transformation(module):
    if is_function(module):
        module.forward = lambda X: X.matmul(module.W.transpose(0, 1)) + module.b


model.apply(add_bias)
model.apply(weight_initialization)
model.apply(linear_transformation)
returned_module = model
