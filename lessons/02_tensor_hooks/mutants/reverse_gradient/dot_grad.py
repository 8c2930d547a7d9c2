# misconception: edits .grad inside the hook | hint: reads_grad_early
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.retain_grad()
        branch.register_hook(lambda grad: branch.grad.neg())
    return branch
