model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    for grad in grad_input:
        answer.append(grad)
    answer.append(grad_output[0])


model.register_full_backward_hook(module_hook)
