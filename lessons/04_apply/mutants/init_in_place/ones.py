# misconception: always writes ones | hint: new_values_ignored
def init_in_place(model, new):
    for parameter in model.parameters():
        nn.init.ones_(parameter)
