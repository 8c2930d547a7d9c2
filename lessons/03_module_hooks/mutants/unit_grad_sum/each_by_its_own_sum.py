# misconception: each gradient by the sum of its own elements | hint: sums_everything
model = Model()


def module_hook(module, grad_input, grad_output):
    return tuple(grad / grad.sum() for grad in grad_input)


model.register_full_backward_hook(module_hook)
