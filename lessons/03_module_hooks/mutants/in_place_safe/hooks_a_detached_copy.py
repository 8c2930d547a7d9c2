# misconception: hooks a detached copy | hint: in_place_outside_of_graph
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        copy = output.detach().clone().requires_grad_()
        copy.register_hook(gradients.append)

    layer.register_forward_hook(forward_hook)
    return gradients
