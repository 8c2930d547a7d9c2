# misconception: returns a list | hint: hook_returns_no_tensor
def func(grad):
    return [grad * 2]
