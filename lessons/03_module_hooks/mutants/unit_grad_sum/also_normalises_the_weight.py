# misconception: divides W.grad as well | hint: changes_own_gradient
model = Model()


def module_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    return tuple(grad / total for grad in grad_input)


model.register_full_backward_hook(module_hook)
model.W.register_hook(lambda grad: grad / grad.sum())
