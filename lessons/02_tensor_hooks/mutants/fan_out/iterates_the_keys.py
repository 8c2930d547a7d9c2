# misconception: goes through the dict's names as if they were the tensors | hint: fan_out_names_for_tensors
predicted = [22.0]


def log_gradients(tensors: dict) -> list:
    log = []
    for tensor in tensors:
        tensor.register_hook(lambda grad, name=tensor: log.append((name, grad)))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
print("predicted for h:", predicted)
print("logged:", *log, sep="\n   ")
