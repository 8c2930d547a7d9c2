def reverse_gradient(tensor):
    branch = tensor.clone()
    if branch.grad_fn is not None:
        branch.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (-grad_inputs[0],))
    return branch
