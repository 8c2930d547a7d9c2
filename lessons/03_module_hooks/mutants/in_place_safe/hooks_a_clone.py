# misconception: hooks a clone that nobody uses | hint: in_place_outside_of_graph
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.clone().register_hook(gradients.append)

    layer.register_forward_hook(forward_hook)
    return gradients
