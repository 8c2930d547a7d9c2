# misconception: registers on the notebook's model | hint: function_uses_global
model = Model()


def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return model.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    return model.register_full_backward_pre_hook(hook)
