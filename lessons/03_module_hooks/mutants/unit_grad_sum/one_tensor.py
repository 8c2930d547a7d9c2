# misconception: returns one tensor | hint: full_hook_return
model = Model()


def module_hook(module, grad_input, grad_output):
    return grad_input[0] / sum(grad_input)


model.register_full_backward_hook(module_hook)
