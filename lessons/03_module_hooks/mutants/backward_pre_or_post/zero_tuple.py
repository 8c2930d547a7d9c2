# misconception: zeros_like of the whole tuple | hint: grad_is_a_tuple
def stop_in_front(module):
    return module.register_full_backward_hook(
        lambda module, grad_input, grad_output: torch.zeros_like(grad_input)
    )


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: torch.zeros_like(grad_output))
