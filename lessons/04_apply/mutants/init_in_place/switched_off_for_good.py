# misconception: switches gradients off to write | hint: init_not_trainable
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.requires_grad = False
        parameter.copy_(new(parameter))
