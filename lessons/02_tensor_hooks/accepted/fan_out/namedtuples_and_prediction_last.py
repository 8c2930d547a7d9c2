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
