# misconception: returns a tuple of the first entry | hint: stop_first_entry_only
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        (first, *_) = grad_input
        return None if first is None else (torch.zeros_like(first),)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        return (torch.zeros_like(grad_output[0]),)

    return module.register_full_backward_pre_hook(hook)
