# misconception: extends by the tensor instead of the tuple | hint: takes_elements_apart
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input)
    answer.extend(grad_output[0])


model.register_full_backward_hook(module_hook)
