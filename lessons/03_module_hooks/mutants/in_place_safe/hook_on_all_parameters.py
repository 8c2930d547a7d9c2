# misconception: tensor hooks on all parameters | hint: in_place_of_parameter
def output_gradients(layer):
    gradients = []
    for parameter in layer.parameters():
        parameter.register_hook(gradients.append)
    return gradients
