# misconception: returns no handle | hint: stop_no_handle
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    module.register_full_backward_pre_hook(hook)
