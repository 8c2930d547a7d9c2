# misconception: computes but does not return | hint: computes_without_returning
model = Model()


def module_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    grad_input = tuple(grad / total for grad in grad_input)


model.register_full_backward_hook(module_hook)
