# misconception: registers both kinds and returns one handle | hint: handle_of_another
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def before(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    handle = module.register_full_backward_pre_hook(before)
    stop_in_front(module)
    return handle
