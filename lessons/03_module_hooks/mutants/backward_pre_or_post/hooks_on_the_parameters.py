# misconception: tensor hooks on the parameters only | hint: stop_own_only
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    for parameter in module.parameters():
        handle = parameter.register_hook(torch.zeros_like)
    return handle
