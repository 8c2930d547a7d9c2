# misconception: the deprecated hook | hint: legacy_hook
def output_gradients(layer):
    gradients = []
    layer.register_backward_hook(lambda module, grad_input, grad_output: gradients.append(grad_output[0]))
    return gradients
