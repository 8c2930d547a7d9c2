# misconception: a forward hook that zeroes the output | hint: changes_the_value
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, args, output):
        if isinstance(output, tuple):
            return tuple(one * 0 for one in output)
        return output * 0

    return module.register_forward_hook(hook)
