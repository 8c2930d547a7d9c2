def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        stopped = []
        for grad in grad_input:
            if grad is not None:
                grad = torch.full_like(grad, 0.0)
            stopped.append(grad)
        return tuple(stopped)

    handle = module.register_full_backward_hook(hook)
    return handle


def stop_from_here(module):
    def hook(module, grad_output):
        stopped = []
        for grad in grad_output:
            if grad is not None:
                grad = torch.zeros(grad.shape, dtype=grad.dtype)
            stopped.append(grad)
        return tuple(stopped)

    handle = module.register_full_backward_pre_hook(hook)
    return handle
