# %% adds_one
# misconception: right for a gradient of 1 only | hint: adds_a_number
def func(grad):
    return grad + 1

# %% adds_two
# misconception: adds 2 | hint: adds_a_number
def func(grad):
    return grad + 2

# %% as_float
# misconception: casts to float32 | hint: hook_changes_shape
def func(grad):
    return grad.float() * 2

# %% as_list
# misconception: returns a list | hint: hook_returns_no_tensor
def func(grad):
    return [grad * 2]

# %% as_tuple
# misconception: returns a tuple, as a module hook does | hint: hook_returns_no_tensor
def func(grad):
    return (grad * 2,)

# %% back_and_forth
# misconception: through Python numbers, so the dtype is lost | hint: hook_changes_shape
def func(grad):
    return 2 * torch.tensor(grad.tolist())

# %% constant
# misconception: the constant that is right for a loss | hint: ignores_argument
def func(grad):
    return torch.full_like(grad, 2.0)

# %% decorated
# misconception: doubles twice | hint: doubles_again
def func(grad):
    return 2 * grad * 2

# %% edits_dot_grad
# misconception: writes to a global's .grad | hint: undefined_name
def func(grad):
    tensor_of_this_hook.grad = grad * 2

# %% first_call_only
# misconception: doubles at the first call only | hint: hook_returns_nothing
calls = []


def func(grad):
    calls.append(grad)
    return grad * 2 if len(calls) == 1 else grad

# %% in_place
# misconception: in place, returns nothing | hint: edits_in_place
# breaks: Everything else must stay as it is: also the tensor that is given to `backward`.
def func(grad):
    grad.mul_(2)

# %% in_place_data
# misconception: in place by way of .data | hint: edits_in_place
def func(grad):
    grad.data.mul_(2)

# %% in_place_returned
# misconception: in place, and returned | hint: edits_in_place
def func(grad):
    grad *= 2
    return grad

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

# %% needs_tensor
# misconception: expects the tensor as well | hint: hook_arguments
def func(tensor, grad):
    tensor.grad = grad * 2

# %% no_return
# misconception: computes and does not return | hint: hook_returns_nothing
# breaks: The gradients of all earlier tensors must follow.
def func(grad):
    grad = grad * 2

# %% one_element
# misconception: times a tensor of one element: a scalar gradient gets a dimension | hint: hook_changes_shape
# breaks: It may be registered on any tensor
def func(grad):
    return grad * torch.tensor([2.0])

# %% python_number
# misconception: returns a number | hint: hook_returns_no_tensor
def func(grad):
    return 2

# %% returns_the_old
# misconception: computes and returns the old gradient | hint: hook_returns_nothing
def func(grad):
    doubled = grad * 2
    return grad

# %% scalar
# misconception: a constant, right for a loss | hint: ignores_argument
def func(grad):
    return torch.tensor(2.0)

# %% squared
# misconception: squares | hint: squares_gradient
# breaks: a tensor hook that doubles the gradient
def func(grad):
    return grad**2

# %% summed
# misconception: the sum, doubled | hint: hook_changes_shape
def func(grad):
    return 2 * grad.sum()

# %% through_float32
# misconception: computes in float32 and goes back | hint: digits_lost
# breaks: any shape and floating-point dtype
def func(grad):
    return (grad.float() * 2).to(grad.dtype)

# %% one_buffer_a_shape
# misconception: writes each result of one shape into one tensor | hint: one_tensor_for_all
buffers = {}


def func(grad):
    key = (grad.shape, grad.dtype)
    if key not in buffers:
        buffers[key] = torch.empty(grad.shape, dtype=grad.dtype)
    return torch.mul(grad, 2, out=buffers[key])

# %% viewed_flat
# misconception: takes every gradient for contiguous | hint: hook_views_flat
# breaks: with any shape and floating-point dtype
def func(grad):
    return grad.view(-1).mul(2).view(grad.shape)

# %% without_nan
# misconception: repairs NaN and infinity | hint: repairs_the_gradient
def func(grad):
    return torch.nan_to_num(grad * 2)

# %% factor_in_float32
# misconception: a factor in float32, so that a 0-d gradient in bfloat16 becomes float32 | hint: hook_changes_shape
def func(grad):
    return grad * torch.tensor(2.0)

# %% concatenated
# misconception: joins the gradient with itself | hint: hook_changes_shape
# breaks: with any shape
def func(grad):
    return torch.cat([grad, grad]).reshape(2, *grad.shape).sum(dim=0)

# %% through_item
# misconception: makes a number of the gradient, which works for one element | hint: python_number
# breaks: with any shape
def func(grad):
    return torch.tensor(2 * grad.item())

# %% through_numpy
# misconception: doubles in NumPy, which has no bfloat16 | hint: not_every_dtype
# breaks: floating-point dtype
def func(grad):
    return torch.as_tensor(grad.numpy() * 2).reshape(grad.shape)
