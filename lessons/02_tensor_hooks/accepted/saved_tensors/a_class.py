class Counter:
    def __init__(self, model):
        self.known = {p.untyped_storage().data_ptr() for p in model.parameters()}
        self.bytes = 0

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self.known:
            self.known.add(storage.data_ptr())
            self.bytes += storage.nbytes()
        return tensor.detach()

    def unpack(self, packed):
        return packed


def saved_bytes(model, x):
    counter = Counter(model)
    with torch.autograd.graph.saved_tensors_hooks(counter.pack, counter.unpack):
        output = model(x)
    return output, counter.bytes


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
