# misconception: takes the output's gradient for the sum | hint: divides_by_upstream
model = Model()


def module_hook(module, grad_input, grad_output):
    return tuple(grad / grad_output[0] for grad in grad_input)


model.register_full_backward_hook(module_hook)
