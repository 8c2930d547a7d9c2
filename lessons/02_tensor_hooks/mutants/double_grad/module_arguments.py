# misconception: the arguments of a module hook | hint: hook_arguments
def func(module, grad_input, grad_output):
    return grad_output[0] * 2
