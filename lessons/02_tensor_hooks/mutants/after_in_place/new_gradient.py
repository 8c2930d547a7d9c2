# misconception: returns a changed gradient | hint: changes_gradient
def watch_around(tensor, change):
    before, after = [], []

    def keep(where, grad):
        where.append(grad)
        return grad * 0

    tensor.register_hook(partial(keep, before))
    change(tensor)
    tensor.register_hook(lambda grad: after.append(grad))
    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
