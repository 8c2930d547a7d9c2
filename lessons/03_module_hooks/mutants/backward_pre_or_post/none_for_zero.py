# misconception: returns None for each entry | hint: no_grad_is_not_zero
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return (None,) * len(grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        return (None,) * len(grad_output)

    return module.register_full_backward_pre_hook(hook)
