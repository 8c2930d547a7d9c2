# misconception: assigns to an entry of the tuple | hint: tuple_is_fixed
model = Model()


def module_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    grad_input[0] = grad_input[0] / total
    grad_input[1] = grad_input[1] / total


model.register_full_backward_hook(module_hook)
