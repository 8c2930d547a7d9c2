# misconception: a new tensor without a hook | hint: reverse_gradient_same_sign
def reverse_gradient(tensor):
    return tensor.view_as(tensor)
