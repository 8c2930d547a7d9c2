# misconception: leaves frozen parameters out | hint: frozen_not_initialised
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.copy_(new(parameter))
