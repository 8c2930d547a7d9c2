# misconception: reads .grad of the output in the forward hook | hint: in_place_outside_of_graph
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        gradients.append(output.grad)

    layer.register_forward_hook(forward_hook)
    return gradients
