def zeros(grads):
    return tuple([grad if grad is None else grad.new_zeros(grad.shape) for grad in grads])


def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: zeros(grad_input))


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: zeros(grad_output))
