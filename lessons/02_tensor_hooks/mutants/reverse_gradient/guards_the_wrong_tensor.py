# misconception: asks the given tensor, which still needs a gradient under no_grad | hint: reverse_gradient_in_evaluation
def reverse_gradient(tensor):
    branch = tensor.clone()
    if tensor.requires_grad:
        branch.register_hook(lambda grad: -grad)
    return branch
