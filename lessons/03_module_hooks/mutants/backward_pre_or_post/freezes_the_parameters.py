# misconception: freezes the parameters | hint: no_grad_is_not_zero
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    module.requires_grad_(False)
    return stop_in_front(module)
