# %% first_part
# misconception: takes output[0] everywhere | hint: feat_first_part
# breaks: returns a flat dict with **every** tensor that the named layers return
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        found[name] = output[0].detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found

# %% dicts_skipped
# misconception: opens tuples and lists only | hint: feat_dict_skipped
# edits: first_part
-    def hook(name, module, args, output):
-        found[name] = output[0].detach().clone()
+    def put(place, value):
+        if isinstance(value, torch.Tensor):
+            found[place] = value.detach().clone()
+        elif isinstance(value, (tuple, list)):
+            for i, part in enumerate(value):
+                put(f"{place}.{i}", part)
@@
-            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
+            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))

# %% alias
# misconception: keeps the tensors themselves | hint: feat_alias | canary
# breaks: as it was
# edits: dicts_skipped
-            found[place] = value.detach().clone()
+            found[place] = value.detach()
+        elif isinstance(value, dict):
+            for key, part in value.items():
+                put(f"{place}.{key}", part)

# %% counts_from_one
# misconception: counts the parts from 1 | hint: feat_other_keys
# edits: alias
-            found[place] = value.detach()
+            found[place] = value.detach().clone()
@@
-            for i, part in enumerate(value):
+            for i, part in enumerate(value, 1):

# %% last_number_only
# misconception: gives a nested part the layer's name and its last number | hint: feat_parts_overwrite
# breaks: a tensor's key gives its position
# edits: counts_from_one
-            for i, part in enumerate(value, 1):
-                put(f"{place}.{i}", part)
+            for i, part in enumerate(value):
+                put(f"{place.split('.')[0]}.{i}", part)

# %% dict_values_numbered
# misconception: numbers the values of a dict | hint: feat_dict_skipped
# edits: dicts_skipped
+        elif isinstance(value, dict):
+            put(place, list(value.values()))
         elif isinstance(value, (tuple, list)):

# %% exact_kinds
# misconception: compares types, so an OrderedDict is no dict | hint: feat_exact_kind
# edits: dicts_skipped
-        elif isinstance(value, (tuple, list)):
+        elif type(value) is dict:
+            for key, part in value.items():
+                put(f"{place}.{key}", part)
+        elif type(value) in (tuple, list):

# %% gaps_closed
# misconception: numbers what is left when None is left out | hint: feat_gaps_closed
# edits: counts_from_one
-            for i, part in enumerate(value, 1):
+            for i, part in enumerate(part for part in value if part is not None):

# %% graph_kept
# misconception: keeps the graph | hint: feat_graph
# breaks: without a gradient
# edits: alias
-            found[place] = value.detach()
+            found[place] = value.clone()

# %% hooks_stay
# misconception: leaves the hooks there | hint: feat_hook_left
# breaks: No hook stays
def every_tensor(model, layers, x):
    found = {}

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.detach().clone()
        elif isinstance(value, dict):
            for key, part in value.items():
                put(f"{place}.{key}", part)
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    for name in layers:
        model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o))
    model(x)
    return found

# %% late_binding
# misconception: the loop variable is read when the hook runs | hint: loop_variable
# edits: counts_from_one
-            for i, part in enumerate(value, 1):
+            for i, part in enumerate(value):
@@
-            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
+            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o: put(name, o)))

# %% none_copied
# misconception: copies whatever is at the end | hint: feat_none_part
# breaks: anything that is not a tensor is left out
# edits: alias
-        if isinstance(value, torch.Tensor):
-            found[place] = value.detach()
-        elif isinstance(value, dict):
+        if isinstance(value, dict):
@@
                 put(f"{place}.{i}", part)
+        else:
+            found[place] = value.detach().clone()

# %% opens_text
# misconception: opens whatever can be looped over | hint: feat_into_text
# edits: dicts_skipped
+from collections.abc import Iterable
+
+
 def every_tensor(model, layers, x):
@@
-        elif isinstance(value, (tuple, list)):
+        elif isinstance(value, Iterable):

# %% tensors_only
# misconception: leaves out what is no tensor itself | hint: feat_tuples_skipped
# edits: first_part
-        found[name] = output[0].detach().clone()
+        if isinstance(output, torch.Tensor):
+            found[name] = output.detach().clone()

# %% counted_through
# misconception: counts the tensors through | hint: feat_flat_numbers
# breaks: a tensor's key gives its position
# edits: tensors_only
     found, handles = {}, []
+
+    def tensors_in(value):
+        if isinstance(value, torch.Tensor):
+            return [value.detach().clone()]
+        if isinstance(value, dict):
+            value = list(value.values())
+        return [t for part in value for t in tensors_in(part)] if isinstance(value, (tuple, list)) else []
@@
             found[name] = output.detach().clone()
+        else:
+            for i, tensor in enumerate(tensors_in(output)):
+                found[f"{name}.{i}"] = tensor

# %% one_level
# misconception: opens one level | hint: feat_one_level
# breaks: are opened, however deeply nested
# edits: tensors_only
             found[name] = output.detach().clone()
+        else:
+            for i, part in enumerate(output):
+                if isinstance(part, torch.Tensor):
+                    found[f"{name}.{i}"] = part.detach().clone()

# %% tuple_as_tensor
# misconception: treats every output as a tensor | hint: feat_output_is_tuple
# edits: first_part
-        found[name] = output[0].detach().clone()
+        found[name] = output.detach().clone()

# %% unpacked_as_lstm
# misconception: takes every tuple for an LSTM's | hint: feat_typed_in_form
# edits: tensors_only
             found[name] = output.detach().clone()
+        else:
+            steps, (h, c) = output
+            for place, tensor in (("0", steps), ("1.0", h), ("1.1", c)):
+                found[f"{name}.{place}"] = tensor.detach().clone()

# %% runs_it_twice
# misconception: runs the model to see what comes, and once more for the tensors | hint: feat_runs_twice
# breaks: runs `model` on `x` once
# edits: late_binding
-            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o: put(name, o)))
+            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
+        model(x)

# %% lone_tensor_in_a_tuple
# misconception: puts a tensor alone into a tuple, so that all outputs look alike | hint: feat_lone_tensor
# edits: counts_from_one
-            for i, part in enumerate(value, 1):
+            for i, part in enumerate(value):
@@
-            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
+            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, (o,) if torch.is_tensor(o) else o)))
