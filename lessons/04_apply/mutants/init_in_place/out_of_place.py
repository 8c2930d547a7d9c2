# misconception: an operation that is not in place | hint: new_values_rebound
def init_in_place(model, new):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul(0).add(new(parameter))
