# misconception: address and bytes of the tensor | hint: saved_bytes_address_of_the_slice
def saved_bytes(model, x):
    own = {parameter.data_ptr() for parameter in model.parameters()}
    sizes = {}

    def pack(tensor):
        if tensor.data_ptr() not in own:
            sizes[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(sizes.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
