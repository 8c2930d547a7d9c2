# misconception: two calls, the second with what has come together | hint: fan_out_call_for_each_use
predicted = [10.0, 22.0]


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
