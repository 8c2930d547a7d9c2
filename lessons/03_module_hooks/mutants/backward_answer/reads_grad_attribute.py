# misconception: reads .grad, which is not there yet | hint: grad_not_there_yet
model = Model()
answer = []


inputs = []


def remember(module, args):
    inputs[:] = args


def module_hook(module, grad_input, grad_output):
    answer.extend(value.grad for value in inputs)
    answer.append(grad_output[0])


model.register_forward_pre_hook(remember)

model.register_full_backward_hook(module_hook)
