# %% any_mode
predicted = [torch.tensor(22.0)]
what_ran = None


def log_gradients(tensors: dict) -> list:
    log = []
    for name, tensor in tensors.items():
        torch.autograd.graph.register_multi_grad_hook(
            [tensor], lambda grad, name=name: log.append((name, grad)), mode="any"
        )
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
print("predicted for h:", predicted)
print("logged:", *log, sep="\n   ")

# %% by_partial
predicted = [22.0]


def log_gradients(tensors: dict) -> list:
    log = []

    def note(name, grad):
        log.append((name, grad.detach().clone()))

    for name in tensors:
        tensors[name].register_hook(partial(note, name))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
print("predicted for h:", predicted)
print("logged:", *log, sep="\n   ")

# %% callable_object
predicted = (10.0 + 12.0,)


class Watcher:
    def __init__(self, name, log):
        self.name, self.log = name, log

    def __call__(self, grad):
        self.log.append((self.name, grad.clone()))


def log_gradients(tensors: dict) -> list:
    log = []
    for name, tensor in tensors.items():
        tensor.register_hook(Watcher(name, log))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
print("predicted for h:", predicted)
print("logged:", *log, sep="\n   ")

# %% factory
predicted = [22]


def make_hook(name, log):
    def hook(grad):
        log.append([name, grad])
        return grad

    return hook


def log_gradients(tensors: dict) -> list:
    log = list()
    handles = [tensor.register_hook(make_hook(name, log)) for name, tensor in tensors.items()]
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
print("predicted for h:", predicted)
print("logged:", *log, sep="\n   ")

# %% kept_the_prediction
predicted = [10.0, 12.0]
what_ran = [22.0]


def log_gradients(tensors: dict) -> list:
    log = []
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: log.append((name, grad)))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
print("predicted for h:", predicted)
print("logged:", *log, sep="\n   ")

# %% namedtuples_and_prediction_last
from collections import namedtuple

Entry = namedtuple("Entry", "name gradient")


def log_gradients(tensors: dict) -> list:
    log = []

    def watch(name, tensor):
        tensor.register_hook(lambda grad: log.append(Entry(name, grad)))

    for name, tensor in tensors.items():
        watch(name, tensor)
    return log


predicted = [2 * 6 + 10]
w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_gradients({"h": h})
(h * 10 + h**2).backward()
log
