# misconception: a hook on grad_fn, which is None under no_grad | hint: no_gradient_needed
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        output.grad_fn.register_prehook(lambda grads: gradients.append(grads[0]))

    layer.register_forward_hook(forward_hook)
    return gradients
