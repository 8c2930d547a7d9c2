# misconception: returns a list, also where it holds nothing but None | hint: stop_none_replaced
def zeros(grads):
    return [None if grad is None else torch.zeros_like(grad) for grad in grads]


def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: zeros(grad_input))


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: zeros(grad_output))
