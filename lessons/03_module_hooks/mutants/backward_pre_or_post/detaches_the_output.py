# misconception: detaches the module's output | hint: no_grad_is_not_zero
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, args, output):
        if isinstance(output, tuple):
            return tuple(one.detach() for one in output)
        return output.detach()

    return module.register_forward_hook(hook)
