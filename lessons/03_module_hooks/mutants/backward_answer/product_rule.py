# misconception: product rule on remembered inputs | hint: formula_of_visible_forward
model = Model()
answer = []


inputs = []


def remember(module, args):
    inputs[:] = [value.detach() for value in args]


def module_hook(module, grad_input, grad_output):
    g, W = grad_output[0], module.W.detach()
    answer.extend([g * inputs[1] * W, g * inputs[0] * W, g])


model.register_forward_pre_hook(remember)

model.register_full_backward_hook(module_hook)
