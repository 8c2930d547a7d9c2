# misconception: writes two halves | hint: only_the_sum_is_right
model = Model()


def module_hook(module, grad_input, grad_output):
    return tuple(torch.full_like(grad, 0.5) for grad in grad_input)


model.register_full_backward_hook(module_hook)
