# misconception: registered as a backward pre-hook | hint: hook_arguments
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input)
    answer.append(grad_output[0])


model.register_full_backward_pre_hook(module_hook)
