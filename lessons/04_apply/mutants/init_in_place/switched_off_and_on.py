# misconception: switches gradients off to write, and on for all | hint: frozen_thawed
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.requires_grad_(False)
        parameter.copy_(new(parameter))
        parameter.requires_grad_(True)
