# nothing to break: a storage that is freed while the model runs may count or not, and so may a later one at the same address

# %% address_and_bytes_of_the_slice
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

# %% address_of_the_slice
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

# %% by_id
# misconception: unique by the identity of tensor objects, kept alive | hint: saved_bytes_each_time
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    saved = {}

    def pack(tensor):
        tensor = tensor.detach()
        if tensor.untyped_storage().data_ptr() not in own:
            saved[id(tensor)] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    total = sum(tensor.untyped_storage().nbytes() for tensor in saved.values())
    saved.clear()
    return output, total


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% bytes_of_the_slice
# misconception: the bytes of the saved tensor for those of its storage | hint: saved_bytes_of_the_slice
# breaks: with all its bytes, however many tensors or slices of it are saved
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

# %% counts_in_unpack
# misconception: counts in backward | hint: saved_bytes_nothing
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def unpack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach(), unpack):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% counts_parameters
# misconception: each storage once, parameters included | hint: saved_bytes_parameters
# breaks: the storages of the model's parameters do not count
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

# %% elements
# misconception: counts elements | hint: saved_bytes_elements
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    sizes = {}

    def pack(tensor):
        address = tensor.untyped_storage().data_ptr()
        if address not in own:
            sizes[address] = tensor.numel()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(sizes.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% eval_first
# misconception: switches to eval mode first | hint: saved_bytes_other_mode
def saved_bytes(model, x):
    model.eval()
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% every_save
# misconception: adds up all saves | hint: saved_bytes_everything
def saved_bytes(model, x):
    sizes = []

    def pack(tensor):
        sizes.append(tensor.nbytes)
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(sizes)


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% four_bytes
# misconception: four bytes an element | hint: saved_bytes_four_an_element
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            elements = storage.nbytes() // tensor.element_size()
            sizes[storage.data_ptr()] = elements * 4
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(sizes.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% global_list
# misconception: a notebook variable keeps all saved tensors | hint: saved_bytes_leak
saved = []


def saved_bytes(model, x):
    saved.clear()

    def pack(tensor):
        saved.append(tensor)
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in saved}
    return output, sum(size for address, size in storages.items() if address not in own)


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% global_list_of_detached
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

# %% global_storages
# misconception: a global dict of storages | hint: saved_bytes_of_earlier_calls
storages = {}


def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% half_and_never_back
# misconception: packs in half precision and does not go back | hint: saved_bytes_unpack
# breaks: from which backward works as usual
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages, kept = {}, []

    def pack(tensor):
        kept.append(tensor.detach())
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.half()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% layer_outputs
# misconception: adds up what the layers return | hint: saved_bytes_all_outputs
def saved_bytes(model, x):
    sizes = []
    handles = [
        layer.register_forward_hook(lambda layer, args, output: sizes.append(output.nbytes))
        for layer in model.modules()
        if not list(layer.children())
    ]
    output = model(x)
    for handle in handles:
        handle.remove()
    return output, sum(sizes)


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% left_open
# misconception: enters the context and never leaves it | hint: saved_bytes_left_open
# breaks: afterwards, even if the model raises an error, autograd saves as it did before
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed).__enter__()
    output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% list_of_sizes
# misconception: the sizes, not their sum | hint: saved_bytes_no_text
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, list(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% none_for_unpack
# misconception: None for the second function | hint: saved_bytes_two_functions
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, None):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% number_only
# misconception: returns the number only | hint: saved_bytes_two_results
# breaks: Write `saved_bytes(model, x)`.
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        model(x)
    return sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% outside_the_block
# misconception: the model runs before the block | hint: saved_bytes_nothing
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    output = model(x)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        pass
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% pack_keeps_a_list
# misconception: pack's own list of saved tensors lives on | hint: saved_bytes_leak
# breaks: when the caller has let go of the output, nothing of it stays in memory
def saved_bytes(model, x):
    saved = []

    def pack(tensor):
        saved.append(tensor)
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in saved}
    return output, sum(size for address, size in storages.items() if address not in own)


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% pack_only
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

# %% pack_returns_its_input
# misconception: pack returns the tensor itself | hint: saved_bytes_leak
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% pack_returns_nothing
# misconception: pack only counts | hint: saved_bytes_unpack
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages, kept = {}, []

    def pack(tensor):
        kept.append(tensor.detach())
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% parameters_by_class
# misconception: a parameter is recognised by its class | hint: saved_bytes_parameters
def saved_bytes(model, x):
    storages = {}

    def pack(tensor):
        if not isinstance(tensor, Parameter):
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% parameters_by_identity
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

# %% prints_it
# misconception: prints the number, returns the output | hint: saved_bytes_two_results
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    print(sum(storages.values()))
    return output


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% runs_twice
# misconception: one run for the count, one for the output | hint: saved_bytes_runs_twice
# breaks: It runs `model(x)` once
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        model(x)
        total = sum(storages.values())
    return model(x), total


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% state_dict
# misconception: leaves the buffers out, too | hint: saved_bytes_without_buffers
# breaks: those of its buffers do
def saved_bytes(model, x):
    own = {tensor.untyped_storage().data_ptr() for tensor in model.state_dict().values()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% storages_of_every_save
# misconception: leaves parameters out, counts each save | hint: saved_bytes_each_time
# breaks: each storage counts once
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    sizes = []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes.append(storage.nbytes())
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(sizes)


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% subtracts_all_parameters
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

# %% trainable_only
# misconception: leaves out trainable parameters only | hint: saved_bytes_parameters
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters() if parameter.requires_grad}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% under_no_grad
# misconception: counts where nothing is recorded | hint: saved_bytes_nothing
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.no_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% unpack_returns_nothing
# misconception: unpack prints | hint: saved_bytes_unpack
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, print):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% without_x
# misconception: the input is no saved tensor | hint: saved_bytes_without_x
# breaks: the storage of `x` counts like any other
def saved_bytes(model, x):
    known = {tensor.untyped_storage().data_ptr() for tensor in [x, *model.parameters()]}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% x_always
# misconception: counts x whether it is saved or not | hint: saved_bytes_all_outputs
# breaks: the number of bytes that autograd has saved in this forward pass
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    storages[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% x_by_itself
# misconception: the bytes of x, not of its storage | hint: saved_bytes_of_the_slice
# breaks: the storage of `x` counts like any other
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    if x.untyped_storage().data_ptr() in storages:
        storages[x.untyped_storage().data_ptr()] = x.nbytes
    return output, sum(storages.values())


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% left_open_after_an_error
# misconception: enters and leaves by hand, and an error skips the end | hint: feat_error_skips
# breaks: even if the model raises an error
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed)
    hooks.__enter__()
    output = model(x)
    hooks.__exit__(None, None, None)
    return output, sum(sizes.values())

# %% address_of_a_parameter_that_is_a_slice
# misconception: compares a storage's address with a parameter's | hint: saved_bytes_address_of_the_slice
# breaks: the storages of the model's parameters do not count
def saved_bytes(model, x):
    own = {parameter.data_ptr() for parameter in model.parameters()}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(sizes.values())

# %% parameters_by_type
# misconception: leaves out whatever is a Parameter | hint: saved_bytes_without_x
# breaks: the storage of `x`
def saved_bytes(model, x):
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if not isinstance(tensor, Parameter) and not isinstance(tensor._base, Parameter):
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(sizes.values())

# %% floats_only
# misconception: only floating-point tensors: no indices, no masks | hint: saved_bytes_floats_only
# breaks: the number of bytes that autograd has saved in this forward pass
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if tensor.is_floating_point() and storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(sizes.values())

# %% clones
# misconception: a clone has no graph, so nothing leaks | hint: saved_bytes_copies
# breaks: what is saved is not copied
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    sizes, held = {}, []

    def pack(tensor):
        storage = tensor.untyped_storage()
        held.append(storage)  # so that its address is nobody else's meanwhile
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor.detach().clone()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    held.clear()
    return output, sum(sizes.values())

# %% number_first
# misconception: the number first | hint: saved_bytes_two_results
# breaks: returns the output
def saved_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return sum(sizes.values()), output
