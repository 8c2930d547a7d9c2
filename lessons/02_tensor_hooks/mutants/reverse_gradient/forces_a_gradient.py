# misconception: makes every branch need a gradient | hint: reverse_gradient_in_evaluation
def reverse_gradient(tensor):
    with torch.enable_grad():
        branch = tensor.view_as(tensor)
        if not branch.requires_grad:
            branch.requires_grad_()
        branch.register_hook(lambda grad: -grad)
    return branch
