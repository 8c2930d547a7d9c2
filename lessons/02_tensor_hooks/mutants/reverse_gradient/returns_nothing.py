# misconception: makes the branch and does not return it | hint: returns_nothing
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(torch.neg)
