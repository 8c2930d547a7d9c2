# misconception: a full backward hook that also zeroes the weight's .grad | hint: stop_some_parameters
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_input, grad_output):
        if getattr(module, "weight", None) is not None and module.weight.grad is not None:
            module.weight.grad.zero_()
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)
