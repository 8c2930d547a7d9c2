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
# edits: address_and_bytes_of_the_slice
-            sizes[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
+            sizes[tensor.data_ptr()] = tensor.untyped_storage().nbytes()

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
# edits: address_and_bytes_of_the_slice
-    own = {parameter.data_ptr() for parameter in model.parameters()}
+    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
@@
-        if tensor.data_ptr() not in own:
-            sizes[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
+        address = tensor.untyped_storage().data_ptr()
+        if address not in own:
+            sizes[address] = tensor.nbytes

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
# edits: bytes_of_the_slice
-            sizes[address] = tensor.nbytes
+            sizes[address] = tensor.numel()

# %% eval_first
# misconception: switches to eval mode first | hint: saved_bytes_other_mode
# edits: counts_parameters
 def saved_bytes(model, x):
+    model.eval()
+    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
@@
-        storages[storage.data_ptr()] = storage.nbytes()
+        if storage.data_ptr() not in own:
+            storages[storage.data_ptr()] = storage.nbytes()

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
# edits: bytes_of_the_slice
-        address = tensor.untyped_storage().data_ptr()
-        if address not in own:
-            sizes[address] = tensor.nbytes
+        storage = tensor.untyped_storage()
+        if storage.data_ptr() not in own:
+            elements = storage.nbytes() // tensor.element_size()
+            sizes[storage.data_ptr()] = elements * 4

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
# edits: global_list
-        saved.append(tensor)
-        return tensor.detach()
+        saved.append(tensor.detach())
+        return saved[-1]

# %% global_storages
# misconception: a global dict of storages | hint: saved_bytes_of_earlier_calls
# edits: eval_first
+storages = {}
+
+
 def saved_bytes(model, x):
@@
-    model.eval()
@@
-    storages = {}

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
# edits: eval_first
-    model.eval()
@@
-    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
-        output = model(x)
+    torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed).__enter__()
+    output = model(x)

# %% list_of_sizes
# misconception: the sizes, not their sum | hint: saved_bytes_no_text
# edits: eval_first
-    model.eval()
@@
-    return output, sum(storages.values())
+    return output, list(storages.values())

# %% none_for_unpack
# misconception: None for the second function | hint: saved_bytes_two_functions
# edits: left_open
-    torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed).__enter__()
-    output = model(x)
+    with torch.autograd.graph.saved_tensors_hooks(pack, None):
+        output = model(x)

# %% number_only
# misconception: returns the number only | hint: saved_bytes_two_results
# breaks: Write `saved_bytes(model, x)`.
# edits: list_of_sizes
-        output = model(x)
-    return output, list(storages.values())
+        model(x)
+    return sum(storages.values())

# %% outside_the_block
# misconception: the model runs before the block | hint: saved_bytes_nothing
# edits: none_for_unpack
-    with torch.autograd.graph.saved_tensors_hooks(pack, None):
-        output = model(x)
+    output = model(x)
+    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
+        pass

# %% pack_keeps_a_list
# misconception: pack's own list of saved tensors lives on | hint: saved_bytes_leak
# breaks: when the caller has let go of the output, nothing of it stays in memory
# edits: global_list
-saved = []
-
-
@@
-    saved.clear()
+    saved = []

# %% pack_only
# misconception: one function | hint: saved_bytes_two_functions
# edits: none_for_unpack
-    with torch.autograd.graph.saved_tensors_hooks(pack, None):
+    with torch.autograd.graph.saved_tensors_hooks(pack):

# %% pack_returns_its_input
# misconception: pack returns the tensor itself | hint: saved_bytes_leak
# edits: eval_first
-    model.eval()
@@
-        return tensor.detach()
+        return tensor

# %% pack_returns_nothing
# misconception: pack only counts | hint: saved_bytes_unpack
# edits: half_and_never_back
-        return tensor.half()

# %% parameters_by_class
# misconception: a parameter is recognised by its class | hint: saved_bytes_parameters
# edits: counts_parameters
-        storage = tensor.untyped_storage()
-        storages[storage.data_ptr()] = storage.nbytes()
+        if not isinstance(tensor, Parameter):
+            storage = tensor.untyped_storage()
+            storages[storage.data_ptr()] = storage.nbytes()

# %% parameters_by_identity
# misconception: a parameter is recognised as an object | hint: saved_bytes_parameters
# edits: parameters_by_class
 def saved_bytes(model, x):
+    parameters = [id(parameter) for parameter in model.parameters()]
@@
-        if not isinstance(tensor, Parameter):
+        if id(tensor) not in parameters:

# %% prints_it
# misconception: prints the number, returns the output | hint: saved_bytes_two_results
# edits: list_of_sizes
-    return output, list(storages.values())
+    print(sum(storages.values()))
+    return output

# %% runs_twice
# misconception: one run for the count, one for the output | hint: saved_bytes_runs_twice
# breaks: It runs `model(x)` once
# edits: number_only
-    return sum(storages.values())
+        total = sum(storages.values())
+    return model(x), total

# %% state_dict
# misconception: leaves the buffers out, too | hint: saved_bytes_without_buffers
# breaks: those of its buffers do
# edits: eval_first
-    model.eval()
-    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
+    own = {tensor.untyped_storage().data_ptr() for tensor in model.state_dict().values()}

# %% storages_of_every_save
# misconception: leaves parameters out, counts each save | hint: saved_bytes_each_time
# breaks: each storage counts once
# edits: every_save
 def saved_bytes(model, x):
+    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
@@
-        sizes.append(tensor.nbytes)
+        storage = tensor.untyped_storage()
+        if storage.data_ptr() not in own:
+            sizes.append(storage.nbytes())

# %% subtracts_all_parameters
# misconception: takes off the size of all parameters | hint: saved_bytes_minus_parameters
# edits: counts_parameters
-    return output, sum(storages.values())
+    return output, sum(storages.values()) - sum(parameter.nbytes for parameter in model.parameters())

# %% trainable_only
# misconception: leaves out trainable parameters only | hint: saved_bytes_parameters
# edits: state_dict
-    own = {tensor.untyped_storage().data_ptr() for tensor in model.state_dict().values()}
+    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters() if parameter.requires_grad}

# %% under_no_grad
# misconception: counts where nothing is recorded | hint: saved_bytes_nothing
# edits: none_for_unpack
-    with torch.autograd.graph.saved_tensors_hooks(pack, None):
+    with torch.no_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):

# %% unpack_returns_nothing
# misconception: unpack prints | hint: saved_bytes_unpack
# edits: none_for_unpack
-    with torch.autograd.graph.saved_tensors_hooks(pack, None):
+    with torch.autograd.graph.saved_tensors_hooks(pack, print):

# %% without_x
# misconception: the input is no saved tensor | hint: saved_bytes_without_x
# breaks: the storage of `x` counts like any other
# edits: state_dict
-    own = {tensor.untyped_storage().data_ptr() for tensor in model.state_dict().values()}
+    known = {tensor.untyped_storage().data_ptr() for tensor in [x, *model.parameters()]}
@@
-        if storage.data_ptr() not in own:
+        if storage.data_ptr() not in known:

# %% x_always
# misconception: counts x whether it is saved or not | hint: saved_bytes_all_outputs
# breaks: the number of bytes that autograd has saved in this forward pass
# edits: list_of_sizes
-    return output, list(storages.values())
+    storages[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
+    return output, sum(storages.values())

# %% x_by_itself
# misconception: the bytes of x, not of its storage | hint: saved_bytes_of_the_slice
# breaks: the storage of `x` counts like any other
# edits: x_always
-    storages[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
+    if x.untyped_storage().data_ptr() in storages:
+        storages[x.untyped_storage().data_ptr()] = x.nbytes

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
# edits: address_of_a_parameter_that_is_a_slice
-    own = {parameter.data_ptr() for parameter in model.parameters()}
@@
-        if storage.data_ptr() not in own:
+        if not isinstance(tensor, Parameter) and not isinstance(tensor._base, Parameter):

# %% floats_only
# misconception: only floating-point tensors: no indices, no masks | hint: saved_bytes_floats_only
# breaks: the number of bytes that autograd has saved in this forward pass
# edits: address_of_a_parameter_that_is_a_slice
-    own = {parameter.data_ptr() for parameter in model.parameters()}
+    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
@@
-        if storage.data_ptr() not in own:
+        if tensor.is_floating_point() and storage.data_ptr() not in own:

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
# edits: address_of_a_parameter_that_is_a_slice
-    own = {parameter.data_ptr() for parameter in model.parameters()}
+    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
@@
-    return output, sum(sizes.values())
+    return sum(sizes.values()), output
