# misconception: returns the output's gradient as well | hint: full_hook_return
model = Model()


def module_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    return (*[grad / total for grad in grad_input], grad_output[0])


model.register_full_backward_hook(module_hook)
