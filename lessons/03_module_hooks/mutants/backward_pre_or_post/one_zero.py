# misconception: returns a zero of another shape | hint: hook_changes_shape
def stop_in_front(module):
    return module.register_full_backward_hook(
        lambda module, grad_input, grad_output: tuple(torch.zeros(1) for grad in grad_input)
    )


def stop_from_here(module):
    return module.register_full_backward_pre_hook(
        lambda module, grad_output: tuple(torch.zeros(1) for grad in grad_output)
    )
