# misconception: stores the output, which the ReLU then overwrites | hint: in_place_behind
def output_gradients(layer):
    outputs = []

    def forward_hook(module, args, output):
        outputs.append(output)

    layer.register_forward_hook(forward_hook)
    return outputs
