# misconception: a hook that removes itself | hint: runs_only_once
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        handle.remove()
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    handle = module.register_full_backward_hook(hook)
    return handle


def stop_from_here(module):
    def hook(module, grad_output):
        handle.remove()
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    handle = module.register_full_backward_pre_hook(hook)
    return handle
