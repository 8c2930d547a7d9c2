def _add(where, grad):
    where.append(grad)


def watch_around(tensor: torch.Tensor, change) -> tuple:
    lists = {"before": [], "after": []}
    first = tensor.register_hook(partial(_add, lists["before"]))
    _ = change(tensor)
    second = tensor.register_hook(partial(_add, lists["after"]))
    return tuple(lists.values())


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
