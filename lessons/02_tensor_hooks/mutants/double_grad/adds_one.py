# misconception: right for a gradient of 1 only | hint: adds_a_number
def func(grad):
    return grad + 1
