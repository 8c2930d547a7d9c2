# misconception: hands the tensor to .data, in the right dtype | hint: memory_shared
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.data = new(parameter).to(parameter.dtype)
