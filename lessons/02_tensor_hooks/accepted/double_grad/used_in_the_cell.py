def func(grad):
    return grad * 2


torch.manual_seed(2)
w = torch.randn(5, requires_grad=True)
b = torch.randn(3, requires_grad=True)
x = torch.ones((3, 5))
y = x @ w + b
loss = (y**2).sum()
loss.register_hook(func)
loss.backward()
print(w.grad, b.grad)
