# misconception: the scalar trick the wrong way round | hint: changes_the_value
def reverse_gradient(tensor):
    return tensor.detach() - 2 * tensor
