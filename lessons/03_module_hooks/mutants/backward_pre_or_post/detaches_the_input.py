# misconception: detaches the module's inputs | hint: no_grad_is_not_zero
def stop_in_front(module):
    return module.register_forward_pre_hook(lambda module, args: tuple(arg.detach() for arg in args))


def stop_from_here(module):
    def hook(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    return module.register_full_backward_pre_hook(hook)
