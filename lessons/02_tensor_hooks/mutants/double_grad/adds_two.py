# misconception: adds 2 | hint: adds_a_number
def func(grad):
    return grad + 2
