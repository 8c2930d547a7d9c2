# %% adds_one
# misconception: right for a gradient of 1 only | hint: adds_a_number
def func(grad):
    return grad + 1

# %% as_tuple
# misconception: returns a tuple, as a module hook does | hint: hook_returns_no_tensor
def func(grad):
    return (grad * 2,)

# %% constant
# misconception: the constant that is right for a loss | hint: ignores_argument
# breaks: It may be on any tensor
def func(grad):
    return torch.full_like(grad, 6.0)

# %% tripled
# misconception: adds the doubled gradient to the old one | hint: doubles_again
def func(grad):
    return 3 * grad

# %% in_place
# misconception: in place, returns nothing | hint: edits_in_place
# breaks: Everything else stays as it is.
def func(grad):
    grad.mul_(2)

# %% is_it_positive
# misconception: asks a tensor a yes-or-no question | hint: truth_of_tensor
def func(grad):
    if grad > 0:
        return grad * 2
    return grad * 2

# %% module_arguments
# misconception: the arguments of a module hook | hint: hook_arguments
def func(module, grad_input, grad_output):
    return grad_output[0] * 2

# %% no_return
# misconception: computes and does not return | hint: hook_returns_nothing | canary
# breaks: The gradients of all earlier tensors change accordingly.
def func(grad):
    grad = grad * 2

# %% python_number
# misconception: returns a number | hint: hook_returns_no_tensor
def func(grad):
    return 2

# %% of_the_mean
# misconception: one number for all elements | hint: ignores_argument
def func(grad):
    return 2 * grad.mean().expand_as(grad)

# %% reads_grad
# misconception: takes its argument for the tensor | hint: reads_grad_early
def func(tensor):
    return tensor.grad * 2

# %% squared
# misconception: squares | hint: squares_gradient
# breaks: a tensor hook that doubles the gradient
def func(grad):
    return grad**2

# %% summed
# misconception: the sum, doubled | hint: hook_changes_shape
def func(grad):
    return 2 * grad.sum()

# %% writes_grad
# misconception: writes into `.grad`, to which autograd adds | hint: hook_writes_grad
def func(grad):
    x.grad = grad.clone()

x = torch.tensor([1.0, 2.0], requires_grad=True)
