# misconception: minus the values, written into a copy | hint: changes_the_value
def reverse_gradient(tensor):
    branch = tensor.clone()
    branch.data.neg_()
    return branch
