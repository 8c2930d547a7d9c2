# misconception: a full backward hook, which fails in front of an in-place operation | hint: in_place_after_full_hook
def output_gradients(layer):
    gradients = []
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: gradients.append(grad_output[0]))
    return gradients
