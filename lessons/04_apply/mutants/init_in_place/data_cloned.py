# misconception: takes over the dtype with .data | hint: dtype_taken_over
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.data = new(parameter).clone()
