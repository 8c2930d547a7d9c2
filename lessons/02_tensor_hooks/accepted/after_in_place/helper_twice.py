def watch(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.detach()))
    return seen


def watch_around(tensor, change):
    before = watch(tensor)
    change(tensor)
    return before, watch(tensor)


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
