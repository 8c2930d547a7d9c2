# nothing to break: In the check the parameters stay where they are
# nothing to break: What happens to a saved tensor when backward asks for it
# nothing to break: In a block there is one forward of the model
# nothing to break: Layers that save nothing may be missing

# %% addresses_and_elements
# misconception: address and size of the tensor, not of its storage | hint: memory_tensor_not_storage
class ActivationMemory:
    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.bytes = 0
        self.by_layer = {}

    def __enter__(self):
        own = {p.data_ptr() for p in self.model.parameters()}
        seen = set()
        running = []

        def begin(name, module, args):
            running.append(name)

        def end(module, args, output):
            running.pop()

        def count(size):
            self.bytes += size
            layer = running[-1] if running else ""
            self.by_layer[layer] = self.by_layer.get(layer, 0) + size

        def pack(tensor):
            if tensor.data_ptr() not in own | seen:
                seen.add(tensor.data_ptr())
                count(tensor.nbytes)
            return tensor.detach()

        def unpack(kept):
            return kept

        self.handles = []
        for name, module in self.model.named_modules():
            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))
            self.handles.append(module.register_forward_hook(end))
        self.hooks = saved_tensors_hooks(pack, unpack)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)
        for handle in self.handles:
            handle.remove()

# %% by_shape
# misconception: takes tensors of one shape for one tensor | hint: memory_by_shape
# edits: addresses_and_elements
-        own = {p.data_ptr() for p in self.model.parameters()}
+        own = {p.untyped_storage().data_ptr() for p in self.model.parameters()}
@@
-            if tensor.data_ptr() not in own | seen:
-                seen.add(tensor.data_ptr())
-                count(tensor.nbytes)
+            if tensor.untyped_storage().data_ptr() not in own and tensor.shape not in seen:
+                seen.add(tensor.shape)
+                count(tensor.untyped_storage().nbytes())

# %% bytes_in_a_local_name
# misconception: adds to a name of its own | hint: undefined_name
# edits: by_shape
-            self.bytes += size
+            bytes += size
@@
-            if tensor.untyped_storage().data_ptr() not in own and tensor.shape not in seen:
-                seen.add(tensor.shape)
-                count(tensor.untyped_storage().nbytes())
+            storage = tensor.untyped_storage()
+            if storage.data_ptr() not in own and storage.data_ptr() not in seen:
+                seen.add(storage.data_ptr())
+                count(storage.nbytes())

# %% children_only
# misconception: hooks on the direct children | hint: memory_first_level
# edits: bytes_in_a_local_name
-            bytes += size
+            self.bytes += size
@@
-        for name, module in self.model.named_modules():
+        for name, module in self.model.named_children():

# %% class_names
# misconception: class names as keys | hint: memory_layer_classes
# edits: children_only
-        for name, module in self.model.named_children():
-            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))
+        for name, module in self.model.named_modules():
+            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))

# %% clears_all_hooks
# misconception: removes everybody's hooks | hint: removes_other_hooks
# breaks: Hooks of other people stay
# edits: bytes_in_a_local_name
-            bytes += size
+            self.bytes += size
@@
-        for handle in self.handles:
-            handle.remove()
+        for module in self.model.modules():
+            module._forward_pre_hooks.clear()
+            module._forward_hooks.clear()

# %% counts_every_save
# misconception: counts whatever passes pack | hint: memory_counts_all
# breaks: each storage once and in full
# edits: by_shape
-            if tensor.untyped_storage().data_ptr() not in own and tensor.shape not in seen:
-                seen.add(tensor.shape)
-                count(tensor.untyped_storage().nbytes())
+            count(tensor.numel() * tensor.element_size())

# %% counts_in_unpack
# misconception: counts when backward asks for the tensors | hint: memory_nothing_counted
# edits: counts_every_save
-            count(tensor.numel() * tensor.element_size())
@@
         def unpack(kept):
+            storage = kept.untyped_storage()
+            if storage.data_ptr() not in own and storage.data_ptr() not in seen:
+                seen.add(storage.data_ptr())
+                count(storage.nbytes())

# %% counts_outputs
# misconception: adds up the outputs of all layers with forward hooks | hint: memory_counts_outputs
class ActivationMemory:
    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.bytes = 0
        self.by_layer = {}

    def __enter__(self):
        self.handles = []
        for name, module in self.model.named_modules():
            if not list(module.children()):
                self.handles.append(module.register_forward_hook(partial(self.count, name)))
        return self

    def count(self, name, module, args, output):
        size = output.numel() * output.element_size()
        self.bytes += size
        self.by_layer[name] = self.by_layer.get(name, 0) + size

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% counts_parameters
# misconception: the model's parameters count too | hint: memory_counts_parameters
# breaks: storages of `model`'s parameters do not count
# edits: counts_every_save
-            count(tensor.numel() * tensor.element_size())
+            storage = tensor.untyped_storage()
+            if storage.data_ptr() not in seen:
+                seen.add(storage.data_ptr())
+                count(storage.nbytes())

# %% current_layer_never_ends
# misconception: one variable for the layer that has begun last; nobody resets it | hint: memory_layer_not_left
# edits: bytes_in_a_local_name
-            running.append(name)
+            running[:] = [name]
@@
-            running.pop()
+            pass
@@
-            bytes += size
+            self.bytes += size

# %% current_layer_reset
# misconception: the end of a layer resets the variable, also for the layer around it | hint: memory_outer_forgotten
# edits: current_layer_never_ends
-            pass
+            running.clear()

# %% elements_not_bytes
# misconception: counts elements | hint: memory_counts_elements
# edits: counts_every_save
-            count(tensor.numel() * tensor.element_size())
+            storage = tensor.untyped_storage()
+            if storage.data_ptr() not in own and storage.data_ptr() not in seen:
+                seen.add(storage.data_ptr())
+                count(storage.nbytes() // tensor.element_size())

# %% enter_returns_hooks
# misconception: __enter__ hands out the pair of hooks | hint: memory_no_object
# breaks: a context manager
# edits: bytes_in_a_local_name
-            bytes += size
+            self.bytes += size
@@
-        return self
+        return self.hooks

# %% enter_returns_nothing
# misconception: __enter__ does not return the object | hint: tool_enter_returns_nothing
# edits: enter_returns_hooks
-        return self.hooks

# %% floats_only
# misconception: leaves out integer tensors, such as the indices of a max-pooling | hint: memory_floats_only
# edits: counts_parameters
-            if storage.data_ptr() not in seen:
+            if tensor.is_floating_point() and storage.data_ptr() not in own | seen:

# %% four_bytes_each
# misconception: takes every element for a float32 | hint: memory_four_bytes
# edits: elements_not_bytes
-                count(storage.nbytes() // tensor.element_size())
+                count(tensor.numel() * 4)

# %% four_bytes_of_storage
# misconception: a storage's elements, times four | hint: memory_four_bytes
# edits: elements_not_bytes
-                count(storage.nbytes() // tensor.element_size())
+                count(4 * (storage.nbytes() // tensor.element_size()))

# %% keeps_the_storages
# misconception: a list of storages, so that no address is used again | hint: memory_keeps_tensors
# edits: elements_not_bytes
         seen = set()
+        self.storages = []
@@
-                count(storage.nbytes() // tensor.element_size())
+                self.storages.append(storage)
+                count(storage.nbytes())

# %% keeps_the_tensors
# misconception: a list of the saved tensors, for later | hint: memory_keeps_tensors
# breaks: it keeps none alive
# edits: elements_not_bytes
         seen = set()
+        self.tensors = []
@@
-                count(storage.nbytes() // tensor.element_size())
+                count(storage.nbytes())
+                self.tensors.append(tensor.detach())

# %% kilobytes
# misconception: the result in KiB | hint: memory_unit
# edits: clears_all_hooks
-        for module in self.model.modules():
-            module._forward_pre_hooks.clear()
-            module._forward_hooks.clear()
+        self.bytes /= 1024
+        for handle in self.handles:
+            handle.remove()

# %% last_one_only
# misconception: replaces instead of adding | hint: memory_last_only
# edits: bytes_in_a_local_name
-            bytes += size
+            self.bytes = size

# %% late_binding
# misconception: all begin hooks look the loop variable up | hint: loop_variable
# edits: class_names
-            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))
+            self.handles.append(module.register_forward_pre_hook(lambda module, args: begin(name, module, args)))

# %% leaves_left_out
# misconception: leaves out all leaves, also the input | hint: memory_leaves_out_input
# breaks: also the input `x`
# edits: counts_parameters
-            if storage.data_ptr() not in seen:
+            if not tensor.is_leaf and storage.data_ptr() not in own | seen:

# %% leaves_only
# misconception: hooks on layers without children | hint: memory_outer_forgotten
# edits: children_only
-        for name, module in self.model.named_children():
+        for name, module in self.model.named_modules():
+            if list(module.children()):
+                continue

# %% loss_left_out
# misconception: what is saved outside of all layers is not in by_layer | hint: memory_layer_outside_missing
# breaks: What is saved while no module is running
# edits: bytes_in_a_local_name
-            bytes += size
-            layer = running[-1] if running else ""
+            self.bytes += size
+            if not running:
+                return
+            layer = running[-1]

# %% module_hooks_left
# misconception: removes the hooks for saved tensors and forgets those on the modules | hint: tool_hooks_left
# breaks: no hook or attribute of yours is left
# edits: clears_all_hooks
-        for module in self.model.modules():
-            module._forward_pre_hooks.clear()
-            module._forward_hooks.clear()

# %% modules_as_keys
# misconception: the modules themselves as keys | hint: memory_layer_objects
# edits: class_names
-            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))
+            self.handles.append(module.register_forward_pre_hook(partial(begin, module)))

# %% needs_gradient_only
# misconception: only tensors that require a gradient | hint: memory_leaves_out_input
# edits: counts_parameters
-            if storage.data_ptr() not in seen:
+            if tensor.requires_grad and storage.data_ptr() not in own | seen:

# %% never_switched_off
# misconception: leaves the hooks on | hint: memory_counts_outside
# breaks: After the block nothing is counted any more
# edits: kilobytes
-        self.hooks.__exit__(*error)
-        self.bytes /= 1024
+        pass

# %% never_switched_on
# misconception: makes the pair of hooks, but does not enter it | hint: memory_nothing_counted
# edits: never_switched_off
-        self.hooks.__enter__()

# %% no_finally
# misconception: a generator that does not leave its hooks after an error | hint: tool_not_after_error
# breaks: also if the block has raised an error
from types import SimpleNamespace


@contextmanager
def ActivationMemory(model):
    memory = SimpleNamespace(bytes=0, by_layer={})
    seen = {p.untyped_storage().data_ptr() for p in model.parameters()}
    stack = [""]

    def enter(name, module, args):
        stack.append(name)

    def leave(module, args, output):
        stack.pop()

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in seen:
            seen.add(storage.data_ptr())
            memory.bytes += storage.nbytes()
            memory.by_layer[stack[-1]] = memory.by_layer.get(stack[-1], 0) + storage.nbytes()
        return tensor.detach()

    handles = []
    for name, module in model.named_modules():
        handles += [module.register_forward_pre_hook(partial(enter, name)), module.register_forward_hook(leave)]
    hooks = saved_tensors_hooks(pack, lambda kept: kept)
    hooks.__enter__()
    yield memory
    hooks.__exit__(None, None, None)
    for handle in handles:
        handle.remove()

# %% numel
# misconception: numel is taken for a size in memory | hint: memory_counts_elements
# edits: elements_not_bytes
-                count(storage.nbytes() // tensor.element_size())
+                count(tensor.numel())

# %% off_without_error_only
# misconception: switches the hooks off only where nothing went wrong | hint: tool_not_after_error
# edits: never_switched_off
-        pass
+        if error[0] is None:
+            self.hooks.__exit__(*error)

# %% one_hook_only
# misconception: pack without unpack | hint: memory_two_hooks
# edits: kilobytes
-        self.hooks = saved_tensors_hooks(pack, unpack)
+        self.hooks = saved_tensors_hooks(pack)
@@
-        self.bytes /= 1024

# %% outermost
# misconception: gives everything to the outermost module that is running | hint: memory_outermost
# breaks: A storage counts for the innermost module
# edits: bytes_in_a_local_name
-            bytes += size
-            layer = running[-1] if running else ""
+            self.bytes += size
+            layer = running[0] if running else ""

# %% packs_zeros
# misconception: packs an empty tensor of the same shape, since only the size is wanted | hint: memory_other_tensor
# breaks: brings the same gradients
# edits: elements_not_bytes
-                count(storage.nbytes() // tensor.element_size())
-            return tensor.detach()
+                count(storage.nbytes())
+            return torch.zeros_like(tensor)

# %% parameters_are_leaves
# misconception: takes leaves that need a gradient for the parameters | hint: memory_counts_parameters
# edits: counts_parameters
-            if storage.data_ptr() not in seen:
+            if not (tensor.is_leaf and tensor.requires_grad) and storage.data_ptr() not in seen:

# %% parameters_by_id
# misconception: compares the ids of tensors; a transposed weight is another tensor | hint: memory_counts_parameters
# edits: counts_parameters
-        own = {p.untyped_storage().data_ptr() for p in self.model.parameters()}
+        own = {id(p) for p in self.model.parameters()}
@@
-            if storage.data_ptr() not in seen:
+            if id(tensor) not in own and storage.data_ptr() not in seen:

# %% parameters_by_shape
# misconception: leaves out whatever has the shape of a parameter | hint: memory_counts_parameters
# edits: counts_parameters
-        own = {p.untyped_storage().data_ptr() for p in self.model.parameters()}
+        own = {p.shape for p in self.model.parameters()}
@@
-            if storage.data_ptr() not in seen:
+            if tensor.shape not in own and storage.data_ptr() not in seen:

# %% parameters_by_type
# misconception: asks whether the saved tensor is a Parameter; a transposed weight is not | hint: memory_counts_parameters
# edits: counts_parameters
-            if storage.data_ptr() not in seen:
+            if not isinstance(tensor, nn.Parameter) and storage.data_ptr() not in seen:

# %% parameters_in_layers
# misconception: leaves the parameters out of the total, but not out of the layers | hint: memory_layers_each
# edits: counts_parameters
                 count(storage.nbytes())
+                if storage.data_ptr() in own:
+                    self.bytes -= storage.nbytes()

# %% pop_is_returned
# misconception: a lambda that returns what it pops, and so replaces the output | hint: hook_replaces_output
# breaks: It only looks
# edits: class_names
-            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))
-            self.handles.append(module.register_forward_hook(end))
+            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))
+            self.handles.append(module.register_forward_hook(lambda module, args, output: running.pop()))

# %% returns_nothing
# misconception: pack counts and returns nothing | hint: memory_nothing_packed
# edits: packs_zeros
-            return torch.zeros_like(tensor)

# %% returns_size
# misconception: pack hands the size on instead of the tensor | hint: memory_nothing_packed
# edits: packs_zeros
-            return torch.zeros_like(tensor)
+            return tensor.numel() * tensor.element_size()

# %% returns_the_tensor
# misconception: pack hands back its own argument | hint: memory_circle
# edits: packs_zeros
-            return torch.zeros_like(tensor)
+            return tensor

# %% running_total
# misconception: notes the total so far for each layer | hint: memory_layer_cumulative
# edits: outermost
-            layer = running[0] if running else ""
-            self.by_layer[layer] = self.by_layer.get(layer, 0) + size
+            layer = running[-1] if running else ""
+            self.by_layer[layer] = self.bytes

# %% saves_in_half
# misconception: packs in half precision, which changes the gradients | hint: memory_other_tensor
# edits: packs_zeros
-            return torch.zeros_like(tensor)
+            return tensor.detach().half().float() if tensor.is_floating_point() else tensor.detach()

# %% seen_in_each_layer
# misconception: asks in each layer anew whether a storage was seen | hint: memory_layers_each
# edits: counts_every_save
-            count(tensor.numel() * tensor.element_size())
+            storage = tensor.untyped_storage()
+            layer = running[-1] if running else ""
+            if storage.data_ptr() not in own and (layer, storage.data_ptr()) not in seen:
+                seen.add((layer, storage.data_ptr()))
+                self.by_layer[layer] = self.by_layer.get(layer, 0) + storage.nbytes()
+            if storage.data_ptr() not in own and storage.data_ptr() not in seen:
+                seen.add(storage.data_ptr())
+                self.bytes += storage.nbytes()

# %% shared_storage_twice
# misconception: does not ask whether a storage was counted already | hint: memory_counts_twice
# edits: counts_parameters
-            if storage.data_ptr() not in seen:
+            if storage.data_ptr() not in own:

# %% short_names
# misconception: the last part of the name as key | hint: memory_layer_short_names
# breaks: The keys are the names in `model.named_modules()`
# edits: class_names
-            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))
+            self.handles.append(module.register_forward_pre_hook(partial(begin, name.split(".")[-1])))

# %% size_of_the_view
# misconception: the size of the saved slice instead of its storage | hint: memory_tensor_not_storage
# edits: elements_not_bytes
-                count(storage.nbytes() // tensor.element_size())
+                count(tensor.numel() * tensor.element_size())

# %% size_replaced
# misconception: a reused layer keeps the size of its last call | hint: memory_layer_replaced
# breaks: A layer may be called more than once in a forward
# edits: running_total
-            self.by_layer[layer] = self.bytes
+            self.by_layer[layer] = size

# %% stack_without_bottom
# misconception: asks for the innermost module where none is running | hint: memory_stack_empty
# edits: loss_left_out
-            if not running:
-                return

# %% swallows_errors
# misconception: __exit__ returns True | hint: tool_swallows_error
# breaks: which is passed on
# edits: module_hooks_left
+        for handle in self.handles:
+            handle.remove()
+        return True

# %% tensors_by_address
# misconception: tells memory apart by where the tensor begins | hint: memory_tensor_not_storage
# edits: addresses_and_elements
-            if tensor.data_ptr() not in own | seen:
+            if tensor.data_ptr() not in own and tensor.data_ptr() not in seen:
@@
-                count(tensor.nbytes)
+                count(tensor.untyped_storage().nbytes())

# %% tensors_by_id
# misconception: tells tensors apart by their id, and keeps them so that no id is used again | hint: memory_keeps_tensors
# edits: by_shape
         seen = set()
+        self.ids = []  # an id is free again when its tensor is gone
@@
-            if tensor.untyped_storage().data_ptr() not in own and tensor.shape not in seen:
-                seen.add(tensor.shape)
+            if tensor.untyped_storage().data_ptr() not in own and id(tensor) not in seen:
+                seen.add(id(tensor))
+                self.ids.append(tensor)

# %% total_on_the_class
# misconception: adds up on the class, for all blocks | hint: tool_shared_results
# breaks: Each block begins at 0
# edits: bytes_in_a_local_name
 class ActivationMemory:
+    bytes = 0
+
@@
-        self.bytes = 0
@@
-            bytes += size
+            ActivationMemory.bytes += size

# %% total_only
# misconception: the total of lesson 02, and nothing about the layers | hint: memory_layers_missing
# breaks: `by_layer` says where
class ActivationMemory:
    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.bytes = 0
        self.by_layer = {}

    def __enter__(self):
        seen = {p.untyped_storage().data_ptr() for p in self.model.parameters()}

        def pack(tensor):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in seen:
                seen.add(storage.data_ptr())
                self.bytes += storage.nbytes()
            return tensor.detach()

        self.hooks = saved_tensors_hooks(pack, lambda kept: kept)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)

# %% trainable_parameters_only
# misconception: frozen parameters are taken for activations | hint: memory_counts_parameters
# edits: kilobytes
-        own = {p.untyped_storage().data_ptr() for p in self.model.parameters()}
+        own = {p.untyped_storage().data_ptr() for p in self.model.parameters() if p.requires_grad}
@@
-        self.bytes /= 1024

# %% with_children
# misconception: the difference between a module's end and its beginning, so children count for it too | hint: memory_layers_with_children
# edits: current_layer_never_ends
-            running[:] = [name]
+            running.append(self.bytes)
@@
-        def end(module, args, output):
-            pass
+        def end(name, module, args, output):
+            self.by_layer[name] = self.by_layer.get(name, 0) + self.bytes - running.pop()
@@
-            layer = running[-1] if running else ""
-            self.by_layer[layer] = self.by_layer.get(layer, 0) + size
@@
-            self.handles.append(module.register_forward_hook(end))
+            self.handles.append(module.register_forward_hook(partial(end, name)))

# %% yields_the_number
# misconception: hands out the number as it is at the beginning | hint: memory_no_object
@contextmanager
def ActivationMemory(model):
    total = 0
    seen = {p.untyped_storage().data_ptr() for p in model.parameters()}

    def pack(tensor):
        nonlocal total
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in seen:
            seen.add(storage.data_ptr())
            total += storage.nbytes()
        return tensor.detach()

    with saved_tensors_hooks(pack, lambda kept: kept):
        yield total

# %% ids_of_tensors
# misconception: remembers the ids of tensors, which are given to other tensors later | hint: memory_by_id
# edits: ids_of_storages
-    """PyTorch keeps the Python object of a storage as long as the storage is there, so its id does, too."""
-
@@
-            if storage.data_ptr() not in own and id(storage) not in seen:
-                seen.add(id(storage))
+            if storage.data_ptr() not in own and id(tensor) not in seen:
+                seen.add(id(tensor))

# %% packs_a_copy
# misconception: keeps a copy of each saved tensor | hint: memory_copies
# breaks: The tool copies no tensor
# edits: ids_of_tensors
         seen = set()
+        self.held = []
@@
-            if storage.data_ptr() not in own and id(tensor) not in seen:
-                seen.add(id(tensor))
+            if storage.data_ptr() not in own and storage.data_ptr() not in seen:
+                seen.add(storage.data_ptr())
+                self.held.append(storage)  # so that its address is nobody else's meanwhile
@@
-            return tensor.detach()
+            return tensor.detach().clone()
@@
         self.hooks.__exit__(*error)
+        self.held.clear()

# %% second_name
# misconception: hooks a shared layer once for each of its names | hint: memory_second_name
class ActivationMemory:
    def __init__(self, model):
        self.model, self.bytes, self.by_layer = model, 0, {}

    def __enter__(self):
        seen, running = {p.untyped_storage().data_ptr() for p in self.model.parameters()}, [""]

        def begin(name, module, args):
            running.append(name)

        def end(module, args, output):
            running.pop()

        def pack(tensor):
            storage, layer = tensor.untyped_storage(), running[-1]
            if storage.data_ptr() not in seen:
                seen.add(storage.data_ptr())
                self.bytes += storage.nbytes()
                self.by_layer[layer] = self.by_layer.get(layer, 0) + storage.nbytes()
            return tensor.detach()

        self.handles = []
        for name, module in self.model.named_modules(remove_duplicate=False):
            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))
            self.handles.append(module.register_forward_hook(end))
        self.hooks = saved_tensors_hooks(pack, lambda kept: kept)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)
        for handle in self.handles:
            handle.remove()

# %% parent_by_name
# misconception: takes what stands before the last dot for the module that goes on | hint: memory_parent_by_name
# breaks: A storage counts for the innermost module
class ActivationMemory:
    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.bytes = 0
        self.by_layer = {}

    def __enter__(self):
        self.seen = {p.untyped_storage().data_ptr() for p in self.model.parameters()}
        self.current, self.handles = "", []
        for name, module in self.model.named_modules():
            self.handles.append(module.register_forward_pre_hook(partial(self.begin, name)))
            self.handles.append(module.register_forward_hook(partial(self.end, name)))
        self.saving = saved_tensors_hooks(self.pack, lambda kept: kept)
        self.saving.__enter__()
        return self

    def begin(self, name, module, args):
        self.current = name

    def end(self, name, module, args, output):
        self.current = name.rpartition(".")[0]

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self.seen:
            self.seen.add(storage.data_ptr())
            self.bytes += storage.nbytes()
            self.by_layer[self.current] = self.by_layer.get(self.current, 0) + storage.nbytes()
        return tensor.detach()

    def __exit__(self, *error):
        self.saving.__exit__(*error)
        for handle in self.handles:
            handle.remove()

# %% names_on_the_modules
# misconception: writes its name onto each module | hint: tool_attributes_left
# breaks: no hook or attribute of yours is left
class ActivationMemory:
    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.bytes = 0
        self.by_layer = {}

    def __enter__(self):
        self.seen = {p.untyped_storage().data_ptr() for p in self.model.parameters()}
        self.running, self.handles = [""], []
        for name, module in self.model.named_modules():
            module.memory_name = name
            self.handles.append(module.register_forward_pre_hook(self.begin))
            self.handles.append(module.register_forward_hook(self.end))
        self.saving = saved_tensors_hooks(self.pack, lambda kept: kept)
        self.saving.__enter__()
        return self

    def begin(self, module, args):
        self.running.append(module.memory_name)

    def end(self, module, args, output):
        self.running.pop()

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self.seen:
            self.seen.add(storage.data_ptr())
            self.bytes += storage.nbytes()
            name = self.running[-1]
            self.by_layer[name] = self.by_layer.get(name, 0) + storage.nbytes()
        return tensor.detach()

    def __exit__(self, *error):
        self.saving.__exit__(*error)
        for handle in self.handles:
            handle.remove()

# %% leaves_that_learn_left_out
# misconception: leaves out the parameters, and whatever else is a leaf that requires a gradient | hint: memory_leaves_out_input
# breaks: everything else does, also the input `x` if it is saved
# edits: names_on_the_modules
-            module.memory_name = name
-            self.handles.append(module.register_forward_pre_hook(self.begin))
+            self.handles.append(module.register_forward_pre_hook(partial(self.begin, name)))
@@
-    def begin(self, module, args):
-        self.running.append(module.memory_name)
+    def begin(self, name, module, args):
+        self.running.append(name)
@@
-        if storage.data_ptr() not in self.seen:
+        a_leaf_that_learns = tensor.is_leaf and tensor.requires_grad
+        if storage.data_ptr() not in self.seen and not a_leaf_that_learns:

# %% counts_inside_only
# misconception: counts only while a module is running | hint: memory_layer_outside_missing
# breaks: everything else does
# edits: leaves_that_learn_left_out
-        self.running, self.handles = [""], []
+        self.running, self.handles = [], []
@@
-        a_leaf_that_learns = tensor.is_leaf and tensor.requires_grad
-        if storage.data_ptr() not in self.seen and not a_leaf_that_learns:
+        if self.running and storage.data_ptr() not in self.seen:

# %% bytes_times_element_size
# misconception: multiplies the storage's bytes by the size of an element | hint: memory_bytes_times_size
# breaks: each storage once and in full
# edits: counts_inside_only
     def __enter__(self):
+        self.bytes, self.by_layer, self.running, self.handles = 0, {}, [], []
@@
-        self.running, self.handles = [], []
@@
-            self.handles.append(module.register_forward_hook(self.end))
+            self.handles.append(module.register_forward_hook(self.end, always_call=True))
@@
-        if self.running and storage.data_ptr() not in self.seen:
+        if storage.data_ptr() not in self.seen:
@@
-            self.bytes += storage.nbytes()
-            name = self.running[-1]
-            self.by_layer[name] = self.by_layer.get(name, 0) + storage.nbytes()
+            name = self.running[-1] if self.running else ""
+            self.bytes += storage.size() * tensor.element_size()
+            self.by_layer[name] = self.by_layer.get(name, 0) + storage.size() * tensor.element_size()
