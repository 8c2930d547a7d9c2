# misconception: a hook on the given tensor: all its uses are reversed | hint: reverse_gradient_all_uses
def reverse_gradient(tensor):
    if tensor.requires_grad:
        tensor.register_hook(lambda grad: -grad)
    return tensor
