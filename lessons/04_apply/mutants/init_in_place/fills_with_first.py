# misconception: fills with one number | hint: one_number_for_tensor
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.fill_(new(parameter).mean())
