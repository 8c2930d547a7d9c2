# misconception: in place, and returned | hint: edits_in_place
def func(grad):
    grad *= 2
    return grad
