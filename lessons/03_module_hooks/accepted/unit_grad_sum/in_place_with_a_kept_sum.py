model = Model()


def module_hook(module, grad_input, grad_output):
    total = grad_input[0] + grad_input[1]
    for grad in grad_input:
        grad.div_(total)


model.register_full_backward_hook(module_hook)
