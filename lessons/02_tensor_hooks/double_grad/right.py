# %% as_lambda
func = lambda grad: 2.0 * grad

# %% by_partial
func = partial(torch.mul, other=2)

# %% callable_object
class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, grad):
        print(grad)
        return grad.data.mul(self.factor)


func = Scale(2)

# %% clone_then_in_place
def func(grad):
    new = grad.clone()
    new *= 2
    return new

# %% like_the_gradient
def func(grad):
    with torch.no_grad():
        return grad * torch.full_like(grad, 2)

# %% more_arguments
def func(grad, factor=2):
    return torch.add(grad, grad, alpha=factor - 1)

# %% sum_of_two
def func(grad):
    return grad + grad

# %% torch_mul
def func(grad):
    return torch.mul(grad, 2)

# %% used_in_the_cell
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
