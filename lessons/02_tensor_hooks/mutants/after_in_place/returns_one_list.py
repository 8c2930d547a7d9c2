# misconception: one list for everything | hint: in_place_watch_two_lists
def watch_around(tensor, change):
    seen = []
    tensor.register_hook(seen.append)
    change(tensor)
    tensor.register_hook(seen.append)
    return seen


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
