# misconception: hooks a detached tensor that learns on its own | hint: gradient_cut_here
def reverse_gradient(tensor):
    branch = tensor.detach().requires_grad_()
    branch.register_hook(lambda grad: -grad)
    return branch
