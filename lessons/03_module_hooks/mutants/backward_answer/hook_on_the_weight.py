# misconception: registers on the parameter, as a tensor hook | hint: hook_arguments
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input)
    answer.append(grad_output[0])


model.W.register_hook(module_hook)
