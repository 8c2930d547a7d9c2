# nothing to break: Write the context manager
# nothing to break: The block contains one forward, and keeps the whole graph.

# %% no_finally
# misconception: a generator that does not leave its hooks after an error | hint: tool_not_after_error
# breaks: even after an error
# edits: generator_with_namespace
-    try:
-        for name, module in model.named_modules():
-            handles.append(module.register_forward_pre_hook(lambda m, a, name=name: stack.append(name)))
-            handles.append(module.register_forward_hook(after))
-        with saved_tensors_hooks(pack, lambda t: t):
-            yield memory
-    finally:
-        for handle in handles:
-            handle.remove()
+    for name, module in model.named_modules():
+        handles.append(module.register_forward_pre_hook(lambda m, a, name=name: stack.append(name)))
+        handles.append(module.register_forward_hook(after))
+    with saved_tensors_hooks(pack, lambda t: t):
+        yield memory
+    for handle in handles:
+        handle.remove()

# %% ends_with_the_name
# misconception: the hook that ends a layer returns the name that it takes off the list | hint: hook_replaces_output
# edits: reference
-            if running[-1] == name:  # false if the layer failed before it began
-                running.pop()
+            return running.pop()

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

# %% counts_every_save
# misconception: counts whatever passes pack | hint: memory_counts_all
# breaks: each storage once and in full
# edits: ids_of_tensors
-        running = [""]
+        running = []
@@
+        def count(size):
+            self.bytes += size
+            layer = running[-1] if running else ""
+            self.by_layer[layer] = self.by_layer.get(layer, 0) + size
+
         def pack(tensor):
@@
-            storage = tensor.untyped_storage()
-            if storage.data_ptr() not in own and id(tensor) not in seen:
-                seen.add(id(tensor))
-                self.bytes += storage.nbytes()
-                self.by_layer[running[-1]] = self.by_layer.get(running[-1], 0) + storage.nbytes()
+            count(tensor.numel() * tensor.element_size())
@@
             return tensor.detach()
+
+        def unpack(kept):
+            return kept
@@
-        self.hooks = saved_tensors_hooks(pack, lambda kept: kept)
+        self.hooks = saved_tensors_hooks(pack, unpack)

# %% addresses_of_tensors
# misconception: tells storages apart by the address of the tensor | hint: memory_tensor_not_storage
# edits: counts_every_save
-        own = {p.untyped_storage().data_ptr() for p in self.model.parameters()}
+        own = {p.data_ptr() for p in self.model.parameters()}
@@
-            count(tensor.numel() * tensor.element_size())
+            if tensor.data_ptr() not in own | seen:
+                seen.add(tensor.data_ptr())
+                count(tensor.untyped_storage().nbytes())

# %% counts_parameters
# misconception: the model's parameters count too | hint: memory_counts_parameters
# breaks: without storages of parameters
# edits: counts_every_save
-            count(tensor.numel() * tensor.element_size())
+            storage = tensor.untyped_storage()
+            if storage.data_ptr() not in seen:
+                seen.add(storage.data_ptr())
+                count(storage.nbytes())

# %% frozen_ones_count
# misconception: frozen parameters are taken for activations | hint: memory_counts_parameters
# breaks: without storages of parameters
# edits: counts_parameters
-        own = {p.untyped_storage().data_ptr() for p in self.model.parameters()}
+        own = {p.untyped_storage().data_ptr() for p in self.model.parameters() if p.requires_grad}
@@
-            if storage.data_ptr() not in seen:
+            if storage.data_ptr() not in own | seen:

# %% elements_not_bytes
# misconception: counts elements | hint: memory_counts_elements
# edits: counts_every_save
-            count(tensor.numel() * tensor.element_size())
+            storage = tensor.untyped_storage()
+            if storage.data_ptr() not in own and storage.data_ptr() not in seen:
+                seen.add(storage.data_ptr())
+                count(storage.nbytes() // tensor.element_size())

# %% keeps_the_tensors
# misconception: a list of the saved tensors, for later | hint: memory_keeps_tensors
# breaks: keeps none alive
# edits: elements_not_bytes
         seen = set()
+        self.tensors = []
@@
-                count(storage.nbytes() // tensor.element_size())
+                count(storage.nbytes())
+                self.tensors.append(tensor.detach())

# %% needs_gradient_only
# misconception: only tensors that require a gradient | hint: memory_leaves_out_input
# edits: counts_parameters
-            if storage.data_ptr() not in seen:
+            if tensor.requires_grad and storage.data_ptr() not in own | seen:

# %% outermost
# misconception: gives everything to the outermost module that is running | hint: memory_outermost
# breaks: a storage counts for the innermost module
# edits: counts_parameters
-            layer = running[-1] if running else ""
+            layer = running[0] if running else ""
@@
-            if storage.data_ptr() not in seen:
+            if storage.data_ptr() not in own and storage.data_ptr() not in seen:

# %% loss_left_out
# misconception: what is saved outside of all layers is not in by_layer | hint: memory_layer_outside_missing
# breaks: `""` means: in no layer
# edits: outermost
-            layer = running[0] if running else ""
+            if not running:
+                return
+            layer = running[-1]

# %% returns_nothing
# misconception: pack counts and returns nothing | hint: memory_nothing_packed
# breaks: gives the same gradients
# edits: elements_not_bytes
-                count(storage.nbytes() // tensor.element_size())
-            return tensor.detach()
+                count(storage.nbytes())

# %% returns_the_tensor
# misconception: pack hands back its own argument | hint: memory_circle
# edits: returns_nothing
                 count(storage.nbytes())
+            return tensor

# %% shared_storage_twice
# misconception: counts every tensor that is saved, with its own size | hint: memory_counts_twice
# edits: counts_every_save
-            count(tensor.numel() * tensor.element_size())
+            storage = tensor.untyped_storage()
+            if storage.data_ptr() not in own:
+                count(tensor.nbytes)

# %% size_of_the_view
# misconception: the size of the saved slice instead of its storage | hint: memory_tensor_not_storage
# edits: elements_not_bytes
-                count(storage.nbytes() // tensor.element_size())
+                count(tensor.numel() * tensor.element_size())

# %% size_replaced
# misconception: a reused layer keeps the size of its last call | hint: memory_layer_replaced
# edits: outermost
-            layer = running[0] if running else ""
-            self.by_layer[layer] = self.by_layer.get(layer, 0) + size
+            layer = running[-1] if running else ""
+            self.by_layer[layer] = size

# %% class_names
# misconception: class names as keys | hint: memory_layer_classes
# edits: size_replaced
-            self.by_layer[layer] = size
+            self.by_layer[layer] = self.by_layer.get(layer, 0) + size
@@
-            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))
+            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))

# %% current_layer_never_ends
# misconception: one variable for the layer that has begun last; nobody resets it | hint: memory_layer_not_left | canary
# edits: class_names
-            running.append(name)
+            running[:] = [name]
@@
-            running.pop()
+            pass
@@
-            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))
+            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))

# %% current_layer_reset
# misconception: the end of a layer resets the variable, also for the layer around it | hint: memory_outer_forgotten
# edits: current_layer_never_ends
-            pass
+            running.clear()

# %% enter_returns_nothing
# misconception: __enter__ does not return the object | hint: tool_enter_returns_nothing
# edits: class_names
-            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))
+            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))
@@
-        return self

# %% late_binding
# misconception: all begin hooks look the loop variable up | hint: loop_variable
# edits: class_names
-            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))
+            self.handles.append(module.register_forward_pre_hook(lambda module, args: begin(name, module, args)))

# %% counts_on_after_an_error
# misconception: ends the hooks for saved tensors only if all goes well | hint: tool_not_after_error
# breaks: nothing is counted
# edits: class_names
-            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))
+            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))
@@
-        self.hooks.__exit__(*error)
+        if error[0] is None:
+            self.hooks.__exit__(*error)

# %% module_hooks_left
# misconception: removes the hooks for saved tensors and forgets those on the modules | hint: tool_hooks_left
# breaks: its hooks are gone
# edits: class_names
-            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))
+            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))
@@
-        for handle in self.handles:
-            handle.remove()

# %% never_switched_off
# misconception: leaves the hooks on | hint: memory_counts_outside
# breaks: nothing is counted
# edits: module_hooks_left
-        self.hooks.__exit__(*error)
+        pass
+        for handle in self.handles:
+            handle.remove()

# %% short_names
# misconception: the last part of the name as key | hint: memory_layer_short_names
# breaks: under the names in `named_modules()`
# edits: class_names
-            self.handles.append(module.register_forward_pre_hook(partial(begin, type(module).__name__)))
+            self.handles.append(module.register_forward_pre_hook(partial(begin, name.split(".")[-1])))

# %% state_dict_left_out
# misconception: leaves out buffers as well | hint: memory_leaves_out_buffers
# edits: frozen_ones_count
-        own = {p.untyped_storage().data_ptr() for p in self.model.parameters() if p.requires_grad}
+        own = {one.untyped_storage().data_ptr() for one in self.model.state_dict().values()}

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

# %% packs_a_copy
# misconception: keeps a copy of each saved tensor | hint: memory_copies
# breaks: It copies no tensor
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
