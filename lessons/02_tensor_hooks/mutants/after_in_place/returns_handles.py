# misconception: returns the handles | hint: in_place_watch_two_lists
def watch_around(tensor, change):
    before, after = [], []
    first = tensor.register_hook(before.append)
    change(tensor)
    second = tensor.register_hook(after.append)
    return first, second


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
