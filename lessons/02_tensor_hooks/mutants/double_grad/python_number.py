# misconception: returns a number | hint: hook_returns_no_tensor
def func(grad):
    return 2
