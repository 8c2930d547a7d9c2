# misconception: the register line ran twice | hint: module_hook_twice
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input)
    answer.append(grad_output[0])


model.register_full_backward_hook(module_hook)
model.register_full_backward_hook(module_hook)
