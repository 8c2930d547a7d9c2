# misconception: hands None to torch.norm | hint: first_layer_none_as_tensor
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append((torch.linalg.vector_norm(grad_input[0]).item(), torch.linalg.vector_norm(grad_output[0]).item()))

    layer.register_full_backward_hook(hook)
    return sizes
