# %% asks_the_given_tensor
def reverse_gradient(tensor: torch.Tensor) -> torch.Tensor:
    branch = tensor.view_as(tensor)
    if tensor.requires_grad:
        branch.register_hook(torch.neg)
    return branch

# %% clone_and_lambda
def reverse_gradient(tensor):
    new = tensor.clone()
    if new.requires_grad:
        new.register_hook(lambda grad: -grad)
    return new

# %% custom_function
class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg()


def reverse_gradient(tensor):
    return Reverse.apply(tensor)

# %% grad_mode_guard
def reverse_gradient(tensor):
    if not (torch.is_grad_enabled() and tensor.requires_grad):
        return tensor
    branch = tensor * 1

    def flip(grad):
        return grad * -1

    branch.register_hook(flip)
    return branch

# %% node_posthook
def reverse_gradient(tensor):
    branch = tensor.clone()
    if branch.grad_fn is not None:
        branch.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (-grad_inputs[0],))
    return branch

# %% twice_detached
def reverse_gradient(tensor):
    # value: 2t - t, gradient: -1
    return 2 * tensor.detach() - tensor
