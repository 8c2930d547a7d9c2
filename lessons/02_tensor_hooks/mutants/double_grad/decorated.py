# misconception: doubles twice | hint: doubles_again
def func(grad):
    return 2 * grad * 2
