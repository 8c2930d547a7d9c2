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
