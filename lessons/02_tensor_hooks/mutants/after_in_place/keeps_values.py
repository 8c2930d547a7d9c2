# misconception: keeps the values instead of the gradients | hint: keeps_the_tensor
def watch_around(tensor, change):
    before, after = [], []
    old = tensor.detach().clone()
    tensor.register_hook(lambda grad: before.append(old))
    change(tensor)
    tensor.register_hook(lambda grad: after.append(tensor.detach()))
    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
