# misconception: a hook follows the tensor through the change | hint: in_place_watch_hooks_before
def watch_around(tensor, change):
    before, after = [], []
    tensor.register_hook(before.append)
    tensor.register_hook(after.append)
    change(tensor)
    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
