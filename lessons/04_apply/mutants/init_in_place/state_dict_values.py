# misconception: writes into everything that is saved | hint: buffers_overwritten
def init_in_place(model, new):
    for value in model.state_dict().values():
        if value.is_floating_point() and value.dim():
            value.copy_(new(value))
