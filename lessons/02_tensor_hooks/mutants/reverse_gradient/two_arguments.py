# misconception: a module hook's arguments | hint: hook_arguments
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)

    def hook(tensor, grad):
        return -grad

    if branch.requires_grad:
        branch.register_hook(hook)
    return branch
