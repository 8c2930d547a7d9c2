# misconception: a full backward pre-hook, which comes before the input's gradient | hint: first_layer_always_none
def gradient_sizes(layer):
    sizes = []
    layer.register_full_backward_pre_hook(lambda module, grad_output: sizes.append((None, grad_output[0].norm().item())))
    return sizes
