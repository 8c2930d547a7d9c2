# misconception: returns a tuple, as a module hook does | hint: hook_returns_no_tensor
def func(grad):
    return (grad * 2,)
