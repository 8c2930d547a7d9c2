# misconception: hooks a clone that keeps the old value | hint: in_place_watch_copy
def watch_around(tensor, change):
    before, after = [], []
    old = tensor.clone()
    old.register_hook(before.append)
    change(tensor)
    tensor.register_hook(after.append)
    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
