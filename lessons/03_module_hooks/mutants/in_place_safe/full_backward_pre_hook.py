# misconception: a full backward pre-hook, which fails as well | hint: in_place_after_full_hook
def output_gradients(layer):
    gradients = []
    layer.register_full_backward_pre_hook(lambda module, grad_output: gradients.append(grad_output[0]))
    return gradients
