def watch_around(tensor, change):
    before, after = [], []
    register = torch.autograd.graph.register_multi_grad_hook
    register([tensor], before.append, mode="any")
    change(tensor)
    register([tensor], after.append, mode="any")
    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
