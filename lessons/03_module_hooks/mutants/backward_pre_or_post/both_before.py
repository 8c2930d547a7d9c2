# misconception: both with a full backward pre-hook | hint: stop_too_early
def stop_in_front(module):
    return stop_from_here(module)


def stop_from_here(module):
    def hook(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    return module.register_full_backward_pre_hook(hook)
