import types

model = Model(shape=(2, 2))
functions = (Function_A, Function_B, Function_C, Function_D)


def add_bias(module):
    if isinstance(module, functions):
        module.register_parameter("b", Parameter(torch.zeros(2)))


@torch.no_grad()
def weight_initialization(module):
    if isinstance(module, functions):
        module.W.fill_(1)
        module.b.fill_(1)


def forward(self, x):
    return F.linear(x, self.W, self.b)


def linear_transformation(module):
    if isinstance(module, functions):
        module.forward = types.MethodType(forward, module)


model.apply(add_bias)
model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
