# misconception: softmax has the sum 1 too | hint: only_the_sum_is_right
model = Model()


def module_hook(module, grad_input, grad_output):
    return tuple(torch.softmax(torch.stack(grad_input), dim=0))


model.register_full_backward_hook(module_hook)
