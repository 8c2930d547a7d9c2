# %% autograd_function
class ZeroGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor):
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx, grad):
        return torch.zeros_like(grad)


def stop_in_front(module):
    def hook(module, args):
        return tuple(ZeroGradient.apply(arg) if torch.is_tensor(arg) else arg for arg in args)

    return module.register_forward_pre_hook(hook)


def stop_from_here(module):
    def hook(module, args, output):
        if isinstance(output, tuple):
            return tuple(ZeroGradient.apply(one) for one in output)
        return ZeroGradient.apply(output)

    return module.register_forward_hook(hook)

# %% clone_and_zero
def zeroed(grad):
    return grad.clone().zero_() if grad is not None else None


def hook_behind(module, grad_input, grad_output):
    return tuple(map(zeroed, grad_input))


def hook_in_front(module, grad_output):
    return tuple(map(zeroed, grad_output))


def stop_in_front(module):
    return module.register_full_backward_hook(hook_behind)


def stop_from_here(module):
    return module.register_full_backward_pre_hook(hook_in_front, prepend=True)

# %% lists_where_there_is_something
def zeros_of(grads):
    if all(grad is None for grad in grads):
        return None
    return [None if grad is None else torch.zeros_like(grad) for grad in grads]


def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: zeros_of(grad_input))


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: zeros_of(grad_output))

# %% loops_and_fill
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        stopped = []
        for grad in grad_input:
            if grad is not None:
                grad = torch.full_like(grad, 0.0)
            stopped.append(grad)
        return tuple(stopped)

    handle = module.register_full_backward_hook(hook)
    return handle


def stop_from_here(module):
    def hook(module, grad_output):
        stopped = []
        for grad in grad_output:
            if grad is not None:
                grad = torch.zeros(grad.shape, dtype=grad.dtype)
            stopped.append(grad)
        return tuple(stopped)

    handle = module.register_full_backward_pre_hook(hook)
    return handle

# %% times_zero
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else grad * 0 for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        return tuple(grad * 0 for grad in grad_output)

    return module.register_full_backward_pre_hook(hook)

# %% one_helper
def zeros(grads):
    return tuple([grad if grad is None else grad.new_zeros(grad.shape) for grad in grads])


def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: zeros(grad_input))


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: zeros(grad_output))
