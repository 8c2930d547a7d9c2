# misconception: returns the number 0 | hint: stop_number_for_tensor
def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: (0.0,) * len(grad_input))


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: (0.0,) * len(grad_output))
