# misconception: copies into what new returns | hint: new_values_rebound
def init_in_place(model, new):
    with torch.no_grad():
        for parameter in model.parameters():
            new(parameter).copy_(parameter)
