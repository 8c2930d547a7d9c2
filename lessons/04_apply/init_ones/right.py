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
        module.W = torch.nn.Parameter(torch.ones_like(module.W), requires_grad=True)


returned_module = model.apply(weight_initialization)

# %% nn_init_isinstance
model = Model()


def weight_initialization(module):
    match module:
        case Function_A() | Function_B() | Function_C() | Function_D():
            nn.init.ones_(module.W)


returned_module = model.apply(weight_initialization)
