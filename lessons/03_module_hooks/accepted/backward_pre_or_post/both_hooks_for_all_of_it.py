class Stop:
    def __init__(self, module):
        self.handles = [
            module.register_full_backward_pre_hook(self.arriving),
            module.register_full_backward_hook(self.leaving),
        ]

    def arriving(self, module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    def leaving(self, module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    def remove(self):
        for handle in self.handles:
            handle.remove()


def stop_in_front(module):
    def leaving(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(leaving)


def stop_from_here(module):
    return Stop(module)
