# misconception: the ratio from the notebook's tensors | hint: reads_globals
model = Model()


x1, x2 = torch.rand(1), torch.rand(1)


def module_hook(module, grad_input, grad_output):
    return tuple(0 * grad + share / (x1 + x2) for grad, share in zip(grad_input, (x2, x1)))


model.register_full_backward_hook(module_hook)
