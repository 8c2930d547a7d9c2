# misconception: retain_grad and .grad, at once | hint: asks_too_early
def watch_around(tensor, change):
    tensor.retain_grad()
    before = [tensor.grad]
    change(tensor)
    after = [tensor.grad]
    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
