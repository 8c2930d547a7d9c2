# misconception: masks the gradient as a ReLU would, whatever comes behind | hint: in_place_relu_only
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(lambda grad: gradients.append(grad * (output > 0)))

    layer.register_forward_hook(forward_hook)
    return gradients
