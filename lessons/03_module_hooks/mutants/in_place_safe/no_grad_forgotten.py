# misconception: a tensor hook without a look whether there will be a gradient | hint: no_gradient_needed
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        output.register_hook(gradients.append)

    layer.register_forward_hook(forward_hook)
    return gradients
