# misconception: adds the new values to the old ones | hint: depends_on_old_value
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter += new(parameter)
