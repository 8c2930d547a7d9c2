# misconception: never registers the hook | hint: hook_never_ran
model = Model()


def module_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    return tuple(grad / total for grad in grad_input)
