# misconception: returns minus the values | hint: changes_the_value
def reverse_gradient(tensor):
    return -tensor
