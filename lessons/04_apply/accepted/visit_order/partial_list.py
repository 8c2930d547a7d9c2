model = Model()
answer = []


def collect(names, module):
    print("visiting", type(module).__name__)
    names += [type(module).__qualname__]


model.apply(partial(collect, answer))
