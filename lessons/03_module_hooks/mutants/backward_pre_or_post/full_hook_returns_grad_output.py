# misconception: a full backward hook that returns zeros for the output | hint: full_hook_return
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_input, grad_output):
        zeros = [torch.zeros_like(grad) for grad in grad_output]
        return (*grad_input, *zeros)

    return module.register_full_backward_hook(hook)
