# misconception: the address of the tensor for that of its storage | hint: saved_bytes_address_of_the_slice
def saved_bytes(model, x):
    own = {parameter.data_ptr() for parameter in model.parameters()}
    sizes = {}

    def pack(tensor):
        if tensor.data_ptr() not in own:
            sizes[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(sizes.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
