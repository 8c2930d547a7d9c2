# misconception: each hook removes itself once it has run | hint: runs_only_once
predicted = [22.0]


def log_gradients(tensors: dict) -> list:
    log, handles = [], {}

    def note(name, grad):
        log.append((name, grad))
        handles[name].remove()

    for name, tensor in tensors.items():
        handles[name] = tensor.register_hook(partial(note, name))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
print("predicted for h:", predicted)
print("logged:", *log, sep="\n   ")
