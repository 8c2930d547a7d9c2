def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))

    layer.register_full_backward_hook(hook)
    return sizes
