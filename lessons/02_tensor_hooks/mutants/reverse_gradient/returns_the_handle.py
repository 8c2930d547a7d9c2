# misconception: returns what register_hook returns | hint: reverse_gradient_handle
def reverse_gradient(tensor):
    return tensor.view_as(tensor).register_hook(lambda grad: -grad)
