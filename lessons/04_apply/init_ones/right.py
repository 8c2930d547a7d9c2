# %% all_below
model = Model()


def weight_initialization(module):
    with torch.no_grad():
        [p.fill_(1) for p in module.parameters()]


returned_module = model
returned_module.apply(weight_initialization)

# %% class_with_value
class Fill:
    def __init__(self, value):
        self.value = value

    def __call__(self, module):
        try:
            weight = module.W
        except AttributeError:
            return
        nn.init.constant_(weight, self.value)


model = Model()
weight_initialization = Fill(1.0)
returned_module = model.apply(weight_initialization)

# %% data_fill
model = Model()


def weight_initialization(module):
    module_name = module.__class__.__name__
    if "Function" in module_name:
        module.W.data.fill_(1)


returned_module = model.apply(weight_initialization)

# %% every_own_parameter
model = Model()


@torch.no_grad()
def weight_initialization(module):
    for parameter in module.parameters(recurse=False):
        parameter.copy_(torch.ones_like(parameter))


returned_module = model.apply(weight_initialization)

# %% new_parameter
model = Model()


def weight_initialization(module):
    module_name = module.__class__.__name__
    if module_name.split("_")[0] == "Function":
        module.W = torch.nn.Parameter(torch.tensor([1.0]), requires_grad=True)


returned_module = model.apply(weight_initialization)

# %% nn_init_isinstance
model = Model()


def weight_initialization(module):
    match module:
        case Function_A() | Function_B() | Function_C() | Function_D():
            nn.init.ones_(module.W)


returned_module = model.apply(weight_initialization)

# %% partial_returns_module
model = Model()


def fill(value, module):
    if isinstance(getattr(module, "W", None), Parameter):
        module.W.data = torch.full_like(module.W.data, value)
    return module


weight_initialization = partial(fill, 1.0)
returned_module = model.apply(weight_initialization)

# %% state_dict
model = Model()


def weight_initialization(module):
    for name, value in module.state_dict().items():
        if name.split(".")[-1] == "W":
            value.mul_(0).add_(1)


returned_module = model.apply(weight_initialization)
