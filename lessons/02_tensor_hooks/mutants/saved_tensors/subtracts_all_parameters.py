# misconception: takes off the size of all parameters | hint: saved_bytes_minus_parameters
def saved_bytes(model, x):
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values()) - sum(parameter.nbytes for parameter in model.parameters())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
