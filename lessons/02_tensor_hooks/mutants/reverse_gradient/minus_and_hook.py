# misconception: turns the value and, by a hook, the gradient | hint: changes_the_value
def reverse_gradient(tensor):
    branch = -tensor
    if branch.requires_grad:
        branch.register_hook(lambda grad: -grad)
    return branch
