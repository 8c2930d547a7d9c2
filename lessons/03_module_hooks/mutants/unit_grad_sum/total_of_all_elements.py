# misconception: one sum over all elements | hint: sums_everything
model = Model()


def module_hook(module, grad_input, grad_output):
    total = grad_input[0].sum() + grad_input[1].sum()
    return tuple(grad / total for grad in grad_input)


model.register_full_backward_hook(module_hook)
