# misconception: a new tensor for the branch, but the hook on the old one | hint: reverse_gradient_all_uses
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        tensor.register_hook(torch.neg)
    return branch
