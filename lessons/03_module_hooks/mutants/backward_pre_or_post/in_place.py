# misconception: zeroes the gradients in place | hint: edits_in_place
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        for grad in grad_input:
            if grad is not None:
                grad.zero_()

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        for grad in grad_output:
            if grad is not None:
                grad.zero_()

    return module.register_full_backward_pre_hook(hook)
