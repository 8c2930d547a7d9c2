# misconception: the sum, doubled | hint: hook_changes_shape
def func(grad):
    return 2 * grad.sum()
