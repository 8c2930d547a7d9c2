# misconception: squares | hint: squares_gradient
def func(grad):
    return grad**2
