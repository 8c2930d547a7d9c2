# misconception: multiplies the tuple by 0, which empties it | hint: full_hook_return
def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: grad_input * 0)


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: grad_output * 0)
