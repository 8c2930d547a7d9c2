# misconception: casts to float32 | hint: hook_changes_shape
def func(grad):
    return grad.float() * 2
