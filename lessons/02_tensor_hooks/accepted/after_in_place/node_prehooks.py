def watch_around(tensor, change):
    before, after = [], []
    tensor.grad_fn.register_prehook(lambda grads: before.append(grads[0]))
    change(tensor)
    tensor.grad_fn.register_prehook(lambda grads: after.append(grads[0]))
    return [before, after]


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
