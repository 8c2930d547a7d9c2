# misconception: the model's own parameters only | hint: new_values_for_some
def init_in_place(model, new):
    with torch.no_grad():
        for parameter in model.parameters(recurse=False):
            parameter.copy_(new(parameter))
