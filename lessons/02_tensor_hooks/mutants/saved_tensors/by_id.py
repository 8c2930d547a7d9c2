# misconception: unique by the identity of tensor objects, kept alive | hint: saved_bytes_each_time
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    saved = {}

    def pack(tensor):
        tensor = tensor.detach()
        if tensor.untyped_storage().data_ptr() not in own:
            saved[id(tensor)] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    total = sum(tensor.untyped_storage().nbytes() for tensor in saved.values())
    saved.clear()
    return output, total


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
