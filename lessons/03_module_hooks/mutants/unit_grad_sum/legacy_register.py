# misconception: registers the deprecated hook | hint: hook_changes_shape
model = Model()


def module_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    return tuple(grad / total for grad in grad_input)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    model.register_backward_hook(module_hook)
