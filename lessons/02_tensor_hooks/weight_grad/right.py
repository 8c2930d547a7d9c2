# %% by_partial
model = Model()
answer = []


def tensor_hook(store, grad):
    print("gradient:", grad)
    store.append(grad)


handle = model.W.register_hook(partial(tensor_hook, answer))

# %% callable_object
model = Model()
answer = []


class Collector:
    def __init__(self, store):
        self.store = store

    def __call__(self, grad):
        self.store += [grad]


tensor_hook = Collector(answer)
for name, parameter in model.named_parameters():
    parameter.register_hook(tensor_hook)

# %% clone_and_own_backward
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad.detach().clone())


model.W.register_hook(tensor_hook)

x1 = torch.rand(1, requires_grad=True)
x2 = torch.rand(1, requires_grad=True)
output = model(x1, x2)
output.retain_grad()
output.backward()
print(answer == [model.W.grad])

# %% extend_elements
model = Model()
answer = []


def tensor_hook(grad):
    answer.extend(grad)


model.W.register_hook(tensor_hook)

# %% method_of_the_list
model = Model()
answer = []
tensor_hook = answer.append
model.W.register_hook(tensor_hook)

# %% returns_the_gradient
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad)
    return grad


model.W.register_hook(tensor_hook)

# %% without_dimensions
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad.clone().squeeze())


model.W.register_hook(tensor_hook)
