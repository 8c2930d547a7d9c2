# misconception: post-accumulate hooks on all tensors | hint: post_accumulate_on_non_leaf
predicted = [22.0]


def log_gradients(tensors: dict) -> list:
    log = []
    for name, tensor in tensors.items():
        tensor.register_post_accumulate_grad_hook(lambda tensor, name=name: log.append((name, tensor.grad)))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
print("predicted for h:", predicted)
print("logged:", *log, sep="\n   ")
