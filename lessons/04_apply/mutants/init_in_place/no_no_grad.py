# misconception: writes in place while autograd records | hint: leaf_in_place
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.copy_(new(parameter))
