# misconception: rebinds the loop variable to a new Parameter | hint: new_values_rebound
def init_in_place(model, new):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter = Parameter(new(parameter))
