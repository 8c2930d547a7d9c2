# misconception: the hook removes itself after one pass | hint: runs_only_once
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)

    def flip(grad):
        handle.remove()
        return -grad

    if branch.requires_grad:
        handle = branch.register_hook(flip)
    return branch
