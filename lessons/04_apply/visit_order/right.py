# %% bound_method
class Visitor:
    def __init__(self):
        self.seen = []

    def __call__(self, module):
        self.seen.append(module._get_name())


visitor = Visitor()
answer = Model(shape=(2, 2)).apply(visitor) and visitor.seen

# %% lambda_chained
model = Model()
answer = []
model.apply(lambda module: answer.append(module.__class__.__name__)).apply(lambda module: None)

# %% literal
answer = ["Function_A", "Function_B", "Layer_AB", "Function_C", "Function_D", "Layer_CD", "Model"]

# %% own_recursion
model = Model()
answer = []


def walk(module):
    for child in module.children():
        walk(child)
    answer.append(type(module).__name__)


walk(model)

# %% partial_list
model = Model()
answer = []


def collect(names, module):
    print("visiting", type(module).__name__)
    names += [type(module).__qualname__]


model.apply(partial(collect, answer))
