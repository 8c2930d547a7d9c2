# misconception: the bytes of the saved tensor for those of its storage | hint: saved_bytes_of_the_slice
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    sizes = {}

    def pack(tensor):
        address = tensor.untyped_storage().data_ptr()
        if address not in own:
            sizes[address] = tensor.nbytes
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(sizes.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
