# misconception: makes zeros and does not return them | hint: stop_without_effect
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        grad_input = tuple(torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        grad_output = tuple(torch.zeros_like(grad) for grad in grad_output)

    return module.register_full_backward_pre_hook(hook)
