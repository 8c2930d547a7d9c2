# misconception: removes the hooks after the first pass | hint: runs_only_once
def watch_around(tensor, change):
    before, after = [], []

    def keep(where, grad):
        if not where:
            where.append(grad)

    tensor.register_hook(partial(keep, before))
    change(tensor)
    tensor.register_hook(partial(keep, after))
    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
