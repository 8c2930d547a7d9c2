# misconception: returns what it collected | hint: full_hook_return
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input)
    answer.append(grad_output[0])
    return answer


model.register_full_backward_hook(module_hook)
