# misconception: divides in place, and sums anew in between | hint: uses_a_changed_value
model = Model()


def module_hook(module, grad_input, grad_output):
    g1, g2 = grad_input
    g1 /= g1 + g2
    g2 /= g1 + g2


model.register_full_backward_hook(module_hook)
