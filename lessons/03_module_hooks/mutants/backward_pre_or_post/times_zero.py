# misconception: multiplies by 0 | hint: stop_times_zero
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else grad * 0 for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        return tuple(None if grad is None else grad * 0 for grad in grad_output)

    return module.register_full_backward_pre_hook(hook)
