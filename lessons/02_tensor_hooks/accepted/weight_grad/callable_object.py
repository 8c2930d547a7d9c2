model = Model()
answer = []


class Collector:
    def __init__(self, store):
        self.store = store

    def __call__(self, grad):
        self.store += [grad.data]


tensor_hook = Collector(answer)
for name, parameter in model.named_parameters():
    parameter.register_hook(tensor_hook)
