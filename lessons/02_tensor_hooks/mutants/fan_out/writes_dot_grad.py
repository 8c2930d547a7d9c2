# misconception: puts the gradient into .grad as well | hint: fan_out_writes_grad
predicted = [22.0]


def log_gradients(tensors: dict) -> list:
    log = []

    def note(name, tensor, grad):
        tensor.grad = grad.clone()
        log.append((name, tensor.grad.clone()))

    for name, tensor in tensors.items():
        tensor.register_hook(partial(note, name, tensor))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
print("predicted for h:", predicted)
print("logged:", *log, sep="\n   ")
