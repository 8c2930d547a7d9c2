# misconception: the ratio that holds for a product only | hint: formula_of_visible_forward
model = Model()


inputs = []


def remember(module, args):
    inputs[:] = [value.detach() for value in args]


def module_hook(module, grad_input, grad_output):
    x1, x2 = inputs
    return x2 / (x1 + x2), x1 / (x1 + x2)


model.register_forward_pre_hook(remember)

model.register_full_backward_hook(module_hook)
