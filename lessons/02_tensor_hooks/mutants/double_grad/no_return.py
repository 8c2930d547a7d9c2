# misconception: computes and does not return | hint: hook_returns_nothing
def func(grad):
    grad = grad * 2
