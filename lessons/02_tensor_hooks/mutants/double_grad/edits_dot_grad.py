# misconception: writes to a global's .grad | hint: undefined_name
def func(grad):
    tensor_of_this_hook.grad = grad * 2
