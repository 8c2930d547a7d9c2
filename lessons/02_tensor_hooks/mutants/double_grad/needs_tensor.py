# misconception: expects the tensor as well | hint: hook_arguments
def func(tensor, grad):
    tensor.grad = grad * 2
