# misconception: stores the output | hint: keeps_the_tensor
def output_gradients(layer):
    outputs = []
    layer.register_forward_hook(lambda module, args, output: outputs.append(output.clone()))
    return outputs
