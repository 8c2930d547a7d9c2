# misconception: writes one and zero | hint: only_the_sum_is_right
model = Model()


def module_hook(module, grad_input, grad_output):
    return torch.ones_like(grad_input[0]), torch.zeros_like(grad_input[1])


model.register_full_backward_hook(module_hook)
