# misconception: rebinds the loop variable | hint: new_values_rebound
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter = new(parameter)
