# misconception: each storage once, parameters included | hint: saved_bytes_parameters
def saved_bytes(model, x):
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
