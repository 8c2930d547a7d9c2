# misconception: detached tensors have no graph, but they still hold the memory | hint: saved_bytes_leak
saved = []


def saved_bytes(model, x):
    saved.clear()

    def pack(tensor):
        saved.append(tensor.detach())
        return saved[-1]

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in saved}
    return output, sum(size for address, size in storages.items() if address not in own)


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
