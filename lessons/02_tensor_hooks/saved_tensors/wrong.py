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

# %% bytes_of_the_slice
# misconception: the bytes of the saved tensor for those of its storage | hint: saved_bytes_of_the_slice
# breaks: with all its bytes
# edits: address_of_the_slice
-    own = {parameter.data_ptr() for parameter in model.parameters()}
+    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
@@
-        if tensor.data_ptr() not in own:
-            sizes[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
+        address = tensor.untyped_storage().data_ptr()
+        if address not in own:
+            sizes[address] = tensor.nbytes

# %% counts_in_unpack
# misconception: counts in backward | hint: saved_bytes_nothing | canary
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

# %% counts_parameters
# misconception: each storage once, parameters included | hint: saved_bytes_parameters
# breaks: but not the storages of the model's parameters
def saved_bytes(model, x):
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())

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

# %% half_and_never_back
# misconception: packs in half precision and does not go back | hint: saved_bytes_unpack
# breaks: backward works as usual
# edits: counts_parameters
-    storages = {}
+    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
+    storages, kept = {}, []
@@
+        kept.append(tensor.detach())
         storage = tensor.untyped_storage()
-        storages[storage.data_ptr()] = storage.nbytes()
-        return tensor.detach()
+        if storage.data_ptr() not in own:
+            storages[storage.data_ptr()] = storage.nbytes()
+        return tensor.half()

# %% number_of_elements
# misconception: counts numbers, not bytes | hint: saved_bytes_of_other_size
# edits: bytes_of_the_slice
-            sizes[address] = tensor.nbytes
+            sizes[address] = tensor.untyped_storage().nbytes() // tensor.element_size()

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

# %% pack_keeps_a_list
# misconception: pack's own list of saved tensors lives on | hint: saved_bytes_leak
# breaks: when the output is freed, they must be freed too
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

# %% pack_only
# misconception: one function | hint: saved_bytes_two_functions
# edits: number_only
-    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
-        model(x)
-    return sum(storages.values())
+    with torch.autograd.graph.saved_tensors_hooks(pack):
+        output = model(x)
+    return output, sum(storages.values())

# %% pack_returns_its_input
# misconception: pack returns the tensor itself | hint: saved_bytes_leak
# edits: counts_in_unpack
-    def unpack(tensor):
+    def pack(tensor):
@@
-    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach(), unpack):
+    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):

# %% parameters_by_identity
# misconception: a parameter is recognised as an object | hint: saved_bytes_parameters
# edits: counts_parameters
 def saved_bytes(model, x):
+    parameters = [id(parameter) for parameter in model.parameters()]
@@
-        storage = tensor.untyped_storage()
-        storages[storage.data_ptr()] = storage.nbytes()
+        if id(tensor) not in parameters:
+            storage = tensor.untyped_storage()
+            storages[storage.data_ptr()] = storage.nbytes()

# %% runs_twice
# misconception: one run for the count, one for the output | hint: saved_bytes_runs_twice
# breaks: It runs `model(x)` once
# edits: number_only
-    return sum(storages.values())
+        total = sum(storages.values())
+    return model(x), total

# %% storages_of_every_save
# misconception: leaves parameters out, counts each save | hint: saved_bytes_each_time
# breaks: Count each storage once
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

# %% under_no_grad
# misconception: counts where nothing is recorded | hint: saved_bytes_nothing
# edits: pack_only
-    with torch.autograd.graph.saved_tensors_hooks(pack):
+    with torch.no_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):

# %% detached_output
# misconception: hands out the output without its graph | hint: gradient_cut
# edits: reference
-    return output, sum(storages.values())
+    return output.detach(), sum(storages.values())

# %% trained_ones_only
# misconception: takes only what is trained for a parameter | hint: saved_bytes_parameters
# edits: reference
-    parameters = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
+    parameters = {p.untyped_storage().data_ptr() for p in model.parameters() if p.requires_grad}

# %% without_x
# misconception: the input is no saved tensor | hint: saved_bytes_without_x
# edits: counts_parameters
 def saved_bytes(model, x):
+    known = {tensor.untyped_storage().data_ptr() for tensor in [x, *model.parameters()]}
@@
-        storages[storage.data_ptr()] = storage.nbytes()
+        if storage.data_ptr() not in known:
+            storages[storage.data_ptr()] = storage.nbytes()

# %% without_buffers
# misconception: buffers are left out like parameters | hint: saved_bytes_without_x
# edits: without_x
-    known = {tensor.untyped_storage().data_ptr() for tensor in [x, *model.parameters()]}
+    known = {tensor.untyped_storage().data_ptr() for tensor in [*model.buffers(), *model.parameters()]}

# %% clones
# misconception: a clone has no graph, so nothing leaks | hint: saved_bytes_copies
# breaks: Do not copy the saved tensors
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
