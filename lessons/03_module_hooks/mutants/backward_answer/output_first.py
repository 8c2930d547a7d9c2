# misconception: the order in which backward meets them | hint: wrong_order
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad_output)
    answer.extend(grad_input)


model.register_full_backward_hook(module_hook)
