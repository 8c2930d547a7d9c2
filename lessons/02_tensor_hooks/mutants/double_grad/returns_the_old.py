# misconception: computes and returns the old gradient | hint: hook_returns_nothing
def func(grad):
    doubled = grad * 2
    return grad
