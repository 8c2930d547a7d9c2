# misconception: a parameter is recognised as an object | hint: saved_bytes_parameters
def saved_bytes(model, x):
    parameters = [id(parameter) for parameter in model.parameters()]
    storages = {}

    def pack(tensor):
        if id(tensor) not in parameters:
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
