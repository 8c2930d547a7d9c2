# misconception: hooks a new tensor and returns the old one | hint: reverse_gradient_same_sign
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(lambda grad: -grad)
    return tensor
