# misconception: a backward hook, whose return value is for gradients | hint: hook_never_ran
add = Add()


def hook(module, grad_input, grad_output):
    return tuple(grad + 5 for grad in grad_input)


add.register_full_backward_hook(hook)
