# misconception: a hook on the branch and one on the tensor: the sign turns twice | hint: reverse_gradient_same_sign
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(torch.neg)
        tensor.register_hook(torch.neg)
    return branch
