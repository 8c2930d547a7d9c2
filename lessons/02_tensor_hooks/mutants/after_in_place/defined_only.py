# misconception: never registers | hint: hook_never_ran
def watch_around(tensor, change):
    before, after = [], []

    def keep_before(grad):
        before.append(grad)

    change(tensor)

    def keep_after(grad):
        after.append(grad)

    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
