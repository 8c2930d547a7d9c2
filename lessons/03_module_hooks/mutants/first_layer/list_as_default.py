# misconception: one list for all layers, as a default argument | hint: shared_list
def gradient_sizes(layer, sizes=[]):
    sizes.clear()

    def hook(module, grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    layer.register_full_backward_hook(hook)
    return sizes
