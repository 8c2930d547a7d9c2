# misconception: registered as a forward hook | hint: forward_instead_of_backward
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input)
    answer.append(grad_output[0])


model.register_forward_hook(module_hook)
