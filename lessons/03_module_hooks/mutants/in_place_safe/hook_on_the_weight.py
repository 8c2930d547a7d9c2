# misconception: a tensor hook on the weight | hint: in_place_of_parameter
def output_gradients(layer):
    gradients = []
    layer.weight.register_hook(gradients.append)
    return gradients
