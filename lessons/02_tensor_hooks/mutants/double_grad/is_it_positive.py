# misconception: asks a tensor a yes-or-no question | hint: truth_of_tensor
def func(grad):
    if grad > 0:
        return grad * 2
    return grad * 2
