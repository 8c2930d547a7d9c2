# %% a_class
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

# %% in_a_tuple
def saved_bytes(model, x):
    known = {p.untyped_storage()._cdata for p in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in known:
            storages[storage.data_ptr()] = storage.nbytes()
        return (tensor.detach(),)

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed[0]):
        output = model(x)
    return output, sum(storages.values())

# %% list_emptied
from torch.autograd.graph import saved_tensors_hooks


def saved_bytes(model: nn.Module, x: torch.Tensor) -> tuple:
    saved = []

    def pack(tensor):
        saved.append(tensor.detach())
        return saved[-1]

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        output = model(x)
    own = [p.untyped_storage().data_ptr() for p in model.parameters()]
    unique = {t.untyped_storage().data_ptr(): t.untyped_storage() for t in saved}
    saved.clear()
    return output, sum(s.nbytes() for address, s in unique.items() if address not in own)

# %% list_of_detached
def saved_bytes(model, x):
    saved = []

    def pack(tensor):
        saved.append(tensor.detach())
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    addresses = {p.untyped_storage().data_ptr() for p in model.parameters()}
    total = 0
    for tensor in saved:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in addresses:
            addresses.add(storage.data_ptr())
            total += len(storage)
    return output, total

# %% set_and_number
def saved_bytes(model, x):
    seen = set()
    for parameter in model.parameters():
        seen.add(parameter.untyped_storage().data_ptr())
    total = 0

    def pack(tensor):
        nonlocal total
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in seen:
            seen.add(storage.data_ptr())
            total += storage.nbytes()
        return tensor.detach()

    def unpack(tensor):
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        output = model(x)
    return output, total

# %% subtracts_afterwards
def saved_bytes(model, x):
    sizes = {}

    def pack(t):
        s = t.untyped_storage()
        sizes[s.data_ptr()] = s.size()
        return t.data

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        output = model(x)
    for p in model.parameters():
        sizes.pop(p.untyped_storage().data_ptr(), None)
    return output, sum(sizes.values())
