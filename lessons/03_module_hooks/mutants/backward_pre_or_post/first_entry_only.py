# misconception: zeroes the first entry and keeps the others | hint: stop_first_entry_only
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        if grad_input[0] is not None:
            return (torch.zeros_like(grad_input[0]), *grad_input[1:])

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        if grad_output[0] is not None:
            return (torch.zeros_like(grad_output[0]), *grad_output[1:])

    return module.register_full_backward_pre_hook(hook)
