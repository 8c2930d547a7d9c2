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
