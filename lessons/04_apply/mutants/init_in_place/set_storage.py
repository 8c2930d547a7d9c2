# misconception: shares the storage | hint: memory_shared
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.set_(new(parameter).to(parameter.dtype))
