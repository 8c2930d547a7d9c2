# misconception: divides by the sum of absolute values | hint: sum_of_magnitudes
model = Model()


def module_hook(module, grad_input, grad_output):
    return tuple(F.normalize(torch.stack(grad_input), p=1, dim=0))


model.register_full_backward_hook(module_hook)
