# misconception: doubles twice | hint: none
def func(grad):
    return 2 * grad * 2
