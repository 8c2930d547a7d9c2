# misconception: returns the shares in the other order | hint: swaps_gradients
model = Model()


def module_hook(module, grad_input, grad_output):
    g1, g2 = grad_input
    return g2 / (g1 + g2), g1 / (g1 + g2)


model.register_full_backward_hook(module_hook)
