# misconception: retain_grad, which means the value behind the in-place operation | hint: in_place_behind
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.retain_grad()
            layer.weight.register_hook(lambda grad: gradients.append(output.grad))

    layer.register_forward_hook(forward_hook)
    return gradients
