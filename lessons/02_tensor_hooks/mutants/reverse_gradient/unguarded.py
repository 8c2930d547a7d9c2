# misconception: hooks whatever it gets | hint: reverse_gradient_in_evaluation
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    branch.register_hook(lambda grad: -grad)
    return branch
