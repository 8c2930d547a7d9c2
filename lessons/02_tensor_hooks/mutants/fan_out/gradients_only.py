# misconception: logs the gradients without names | hint: fan_out_not_pairs
predicted = [22.0]


def log_gradients(tensors: dict) -> list:
    log = []
    for tensor in tensors.values():
        tensor.register_hook(log.append)
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
print("predicted for h:", predicted)
print("logged:", *log, sep="\n   ")
