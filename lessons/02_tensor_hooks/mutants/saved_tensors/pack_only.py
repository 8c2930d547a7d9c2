# misconception: one function | hint: saved_bytes_two_functions
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
