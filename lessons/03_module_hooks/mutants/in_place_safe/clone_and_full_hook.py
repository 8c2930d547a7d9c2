# misconception: hands a copy on, and still registers a full backward hook | hint: in_place_after_full_hook
def output_gradients(layer):
    gradients = []
    layer.register_forward_hook(lambda module, args, output: output.clone())
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: gradients.append(grad_output[0]))
    return gradients
