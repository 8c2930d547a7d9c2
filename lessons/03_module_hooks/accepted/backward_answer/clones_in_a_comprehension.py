model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad.detach().clone() for grad in (*grad_input, *grad_output))
    return grad_input


model.register_full_backward_hook(module_hook)
