# nothing to break: Write `every_tensor(model, layers, x)`.
# nothing to break: (For the numbers of a named tuple you may use the names of its fields.)
# nothing to break: (There is one name or more in `layers`.
# nothing to break: Each layer runs once a call, and no model switches gradients on by itself.
# nothing to break: What is left after an error is not asked here.

# %% alias
# misconception: keeps the tensors themselves | hint: feat_alias
# breaks: as they were
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.detach()
        elif isinstance(value, dict):
            for key, part in value.items():
                put(f"{place}.{key}", part)
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% counted_through
# misconception: counts the tensors through | hint: feat_flat_numbers
# breaks: Its keys tell where each one was:
# breaks: a tuple or list, as an LSTM does: `(output, (h, c))` | `rnn.0`, `rnn.1.0`, `rnn.1.1`
def every_tensor(model, layers, x):
    found, handles = {}, []

    def tensors_in(value):
        if isinstance(value, torch.Tensor):
            return [value.detach().clone()]
        if isinstance(value, dict):
            value = list(value.values())
        return [t for part in value for t in tensors_in(part)] if isinstance(value, (tuple, list)) else []

    def hook(name, module, args, output):
        if isinstance(output, torch.Tensor):
            found[name] = output.detach().clone()
        else:
            for i, tensor in enumerate(tensors_in(output)):
                found[f"{name}.{i}"] = tensor

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% dict_values_numbered
# misconception: numbers the values of a dict | hint: feat_dict_skipped
# breaks: a dict `{"score": ..., "extra": [...]}`, whose keys are text | `rnn.score`, `rnn.extra.0`, ...
# edits: alias
-            found[place] = value.detach()
+            found[place] = value.detach().clone()
@@
-            for key, part in value.items():
-                put(f"{place}.{key}", part)
+            put(place, list(value.values()))

# %% dicts_skipped
# misconception: opens tuples and lists only | hint: feat_dict_skipped
# edits: dict_values_numbered
-        elif isinstance(value, dict):
-            put(place, list(value.values()))

# %% direct_children
# misconception: looks among the children | hint: dotted_name
# edits: alias
-            found[place] = value.detach()
+            found[place] = value.detach().clone()
@@
-            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
+            handles.append(getattr(model, name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))

# %% first_of_tuples
# misconception: takes the first part of each tuple | hint: feat_first_part
# breaks: returns a flat dict with **every** tensor that the named layers return
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        if isinstance(output, tuple):
            found[f"{name}.0"] = output[0].detach().clone()
        else:
            found[name] = output.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% first_part
# misconception: takes output[0] everywhere | hint: feat_first_part
# edits: first_of_tuples
-        if isinstance(output, tuple):
-            found[f"{name}.0"] = output[0].detach().clone()
-        else:
-            found[name] = output.detach().clone()
+        found[name] = output[0].detach().clone()

# %% form_by_class
# misconception: knows LSTM and attention by their class | hint: feat_dict_skipped
# edits: first_part
-        found[name] = output[0].detach().clone()
+        if isinstance(module, nn.LSTM):
+            steps, (h, c) = output
+            found[f"{name}.0"], found[f"{name}.1.0"], found[f"{name}.1.1"] = steps, h, c
+        elif isinstance(module, nn.MultiheadAttention):
+            found[f"{name}.0"], found[f"{name}.1"] = output
+        else:
+            found[name] = output
@@
-    return found
+    return {place: tensor.detach().clone() for place, tensor in found.items() if tensor is not None}

# %% graph_kept
# misconception: keeps the graph | hint: feat_graph
# breaks: without a gradient
# edits: alias
-            found[place] = value.detach()
+            found[place] = value.clone()

# %% hooks_stay
# misconception: leaves the hooks there | hint: feat_hook_left
# breaks: Afterwards your hooks are gone
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


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% late_binding
# misconception: the loop variable is read when the hook runs | hint: loop_variable
# edits: direct_children
-            handles.append(getattr(model, name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
+            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o: put(name, o)))

# %% nested_copies
# misconception: keeps the nesting | hint: feat_nested_value
# edits: first_part

+    def copied(value):
+        if isinstance(value, torch.Tensor):
+            return value.detach().clone()
+        if isinstance(value, dict):
+            return {key: copied(part) for key, part in value.items()}
+        if isinstance(value, (tuple, list)):
+            return [copied(part) for part in value]
+        return value
+
     def hook(name, module, args, output):
@@
-        found[name] = output[0].detach().clone()
+        found[name] = copied(output)

# %% none_copied
# misconception: copies whatever is at the end | hint: feat_none_part
# edits: alias
-        if isinstance(value, torch.Tensor):
-            found[place] = value.detach()
-        elif isinstance(value, dict):
+        if isinstance(value, dict):
@@
                 put(f"{place}.{i}", part)
+        else:
+            found[place] = value.detach().clone()

# %% none_kept
# misconception: keeps None and numbers as well | hint: feat_none_part
# breaks: Leave out what is no tensor at the end of its path: `None`, a number, text.
# edits: none_copied
-            found[place] = value.detach().clone()
+            found[place] = value.detach().clone() if isinstance(value, torch.Tensor) else value

# %% none_opened
# misconception: opens whatever is no tensor | hint: feat_none_part
# edits: dict_values_numbered
-            put(place, list(value.values()))
-        elif isinstance(value, (tuple, list)):
+            for key, part in value.items():
+                put(f"{place}.{key}", part)
+        else:

# %% one_level
# misconception: opens one level | hint: feat_one_level
# edits: first_part
-        found[name] = output[0].detach().clone()
+        if isinstance(output, torch.Tensor):
+            found[name] = output.detach().clone()
+        else:
+            for i, part in enumerate(output):
+                if isinstance(part, torch.Tensor):
+                    found[f"{name}.{i}"] = part.detach().clone()

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

# %% takes_tensors_apart
# misconception: loops over tensors | hint: feat_tensor_apart
# breaks: a tensor | `rnn`
# edits: first_part
-        found[name] = output[0].detach().clone()
+        for i, part in enumerate(output):
+            if isinstance(part, torch.Tensor):
+                found[f"{name}.{i}"] = part.detach().clone()
+            elif isinstance(part, (tuple, list)):
+                for j, inner in enumerate(part):
+                    found[f"{name}.{i}.{j}"] = inner.detach().clone()

# %% tensors_only
# misconception: leaves out what is no tensor itself | hint: feat_tuples_skipped
# edits: first_part
-        found[name] = output[0].detach().clone()
+        if isinstance(output, torch.Tensor):
+            found[name] = output.detach().clone()

# %% tuple_as_tensor
# misconception: treats every output as a tensor | hint: feat_output_is_tuple
# edits: first_part
-        found[name] = output[0].detach().clone()
+        found[name] = output.detach().clone()

# %% two_levels
# misconception: opens two levels, as many as an LSTM has | hint: feat_one_level
# breaks: Go on like this, however deep the parts lie.
# edits: tensors_only
     found, handles = {}, []
+
+    def parts(value):
+        return value.items() if isinstance(value, dict) else enumerate(value)
@@
             found[name] = output.detach().clone()
+        elif isinstance(output, (tuple, list, dict)):
+            for i, part in parts(output):
+                if isinstance(part, torch.Tensor):
+                    found[f"{name}.{i}"] = part.detach().clone()
+                elif isinstance(part, (tuple, list, dict)):
+                    for j, inner in parts(part):
+                        if isinstance(inner, torch.Tensor):
+                            found[f"{name}.{i}.{j}"] = inner.detach().clone()

# %% under_one_name
# misconception: files all parts under the layer's name | hint: feat_parts_overwrite
# edits: first_part
-    def hook(name, module, args, output):
-        found[name] = output[0].detach().clone()
+    def put(name, value):
+        if isinstance(value, torch.Tensor):
+            found[name] = value.detach().clone()
+        elif isinstance(value, dict):
+            for part in value.values():
+                put(name, part)
+        elif isinstance(value, (tuple, list)):
+            for part in value:
+                put(name, part)
@@
-            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
+            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))

# %% unpacked_as_lstm
# misconception: takes every tuple for an LSTM's | hint: feat_typed_in_form
# edits: tensors_only
             found[name] = output.detach().clone()
+        else:
+            steps, (h, c) = output
+            for place, tensor in (("0", steps), ("1.0", h), ("1.1", c)):
+                found[f"{name}.{place}"] = tensor.detach().clone()

# %% plain_tuples_only
# misconception: asks for just the classes tuple, list and dict | hint: feat_named_tuple
# breaks: an `OrderedDict` is a dict
# edits: fields_of_a_named_tuple
-        elif hasattr(output, "_asdict"):
-            put(place, output._asdict())
-        elif isinstance(output, dict):
+        elif type(output) is dict:
@@
-        elif isinstance(output, (tuple, list)):
+        elif type(output) in (tuple, list):

# %% in_eval_mode
# misconception: switches to eval mode, and leaves it so | hint: changes_mode
# breaks: every module is in the mode that it was in
# edits: fields_of_a_named_tuple
     found, handles = {}, []
+    model.eval()
@@
-        elif hasattr(output, "_asdict"):
-            put(place, output._asdict())

# %% one_mode_put_back
# misconception: puts the model's own mode back, for all modules | hint: feat_one_mode_for_all
# breaks: every module is in the mode that it was in
def every_tensor(model, layers, x):
    found, training = {}, model.training

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.clone()
        elif isinstance(output, (tuple, list, dict)):
            for key, part in output.items() if isinstance(output, dict) else enumerate(output):
                put(f"{place}.{key}", part)

    model.eval()
    with torch.no_grad(), ExitStack() as stack:
        for name in layers:
            hook = lambda module, args, output, name=name: put(name, output)
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    model.train(training)
    return found

# %% tuples_and_dicts
# misconception: opens tuples and dicts, but no lists | hint: feat_lists_skipped
# breaks: a tuple or list
def every_tensor(model, layers, x):
    found = {}

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.detach().clone()
        elif isinstance(output, (tuple, dict)):
            for key, part in output.items() if isinstance(output, dict) else enumerate(output):
                put(f"{place}.{key}", part)

    with ExitStack() as stack:
        for name in layers:
            hook = lambda module, args, output, name=name: put(name, output)
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    return found

# %% numbers_with_a_point_only
# misconception: keeps tensors of floating point numbers only | hint: feat_integers
# edits: fields_of_a_named_tuple
-            found[place] = output.detach().clone()
-        elif hasattr(output, "_asdict"):
-            put(place, output._asdict())
+            if output.is_floating_point():
+                found[place] = output.detach().clone()

# %% just_this_class
# misconception: keeps objects of just the class torch.Tensor | hint: feat_overlooked
# breaks: **every** tensor that the named layers return
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, output):
        if type(output) is torch.Tensor:
            found[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    try:
        for name in layers:
            hook = lambda module, args, output, name=name: put(name, output)
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found

# %% no_scalars
# misconception: takes a tensor without dimensions for a number | hint: feat_overlooked
# breaks: A parameter, a tensor of one number, and one without any are tensors.
# edits: just_this_class
-        if type(output) is torch.Tensor:
+        if isinstance(output, torch.Tensor) and output.dim():

# %% no_empty_ones
# misconception: leaves out tensors without numbers | hint: feat_overlooked
# edits: just_this_class
-        if type(output) is torch.Tensor:
+        if isinstance(output, torch.Tensor) and output.numel():

# %% each_object_once
# misconception: keeps each tensor object once | hint: feat_one_place
# breaks: keys tell where each one was
# edits: just_this_class
-    found, handles = {}, []
+    found, handles, seen = {}, [], []
@@
-        if type(output) is torch.Tensor:
+        if isinstance(output, torch.Tensor):
+            if any(one is output for one in seen):
+                return
+            seen.append(output)
+        if isinstance(output, torch.Tensor):

# %% four_levels
# misconception: opens four levels | hint: feat_one_level
# breaks: however deep the parts lie
# edits: just_this_class
-        if type(output) is torch.Tensor:
+        if place.count(".") > 4:
+            return
+        if isinstance(output, torch.Tensor):

# %% copies_the_first_part
# misconception: copies the first part of a tuple only | hint: feat_alias
# edits: just_this_class
-        if type(output) is torch.Tensor:
-            found[place] = output.detach().clone()
+        if isinstance(output, torch.Tensor):
+            found[place] = output.detach() if place.endswith(".1") else output.detach().clone()

# %% runs_it_for_each_layer
# misconception: a run of its own for each layer, and one for a look at the outputs | hint: feat_runs_twice
# breaks: It runs `model` on `x` once
def every_tensor(model, layers, x):
    found = {}

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    model(x)
    for name in layers:
        with model.get_submodule(name).register_forward_hook(lambda module, args, output: put(name, output)):
            model(x)
    return found

# %% calls_forward
# misconception: calls the model's forward, past the hooks on the model itself | hint: feat_forward_called
# breaks: It runs `model` on `x` once
def every_tensor(model: nn.Module, layers: list[str], x: torch.Tensor) -> dict[str, torch.Tensor]:
    found = {}

    def walk(path, part):
        if isinstance(part, torch.Tensor):
            found[path] = part.detach().clone()
        elif isinstance(part, dict):
            for key, inner in part.items():
                walk(f"{path}.{key}", inner)
        elif isinstance(part, (tuple, list)):
            for place, inner in enumerate(part):
                walk(f"{path}.{place}", inner)

    with ExitStack() as stack:
        for name in layers:
            stack.enter_context(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: walk(name, o)))
        model.forward(x)
    return found

# %% to_the_device_of_the_first_parameter
# misconception: asks the model's first parameter for its device | hint: feat_first_parameter
# breaks: It runs `model` on `x` once
def every_tensor(model, layers, x):
    found = {}

    def walk(place, part):
        if isinstance(part, torch.Tensor):
            found[place] = part.detach().clone()
        elif isinstance(part, dict):
            for key, value in part.items():
                walk(f"{place}.{key}", value)
        elif isinstance(part, (tuple, list)):
            for i, value in enumerate(part):
                walk(f"{place}.{i}", value)

    with ExitStack() as stack:
        for name in layers:
            stack.enter_context(model.get_submodule(name).register_forward_hook(lambda m, a, o, n=name: walk(n, o)))
        model(x.to(next(model.parameters()).device))
    return found

# %% times_one
# misconception: copies by a product with 1, which turns true and false into whole numbers | hint: feat_digits_lost
# breaks: Keep the tensors as in `safe_features`: as they were
# edits: to_the_device_of_the_first_parameter
-            found[place] = part.detach().clone()
+            found[place] = part.detach() * 1
@@
-        model(x.to(next(model.parameters()).device))
+        model(x)

# %% deep_copies_without_grad
# misconception: deep copies, with autograd switched off; the copy of a parameter requires a gradient all the same | hint: feat_graph
# breaks: and without a gradient
# edits: times_one
+import copy
+
+
 def every_tensor(model, layers, x):
@@
-            found[place] = part.detach() * 1
+            found[place] = copy.deepcopy(part)
@@
-    with ExitStack() as stack:
+    with torch.no_grad(), ExitStack() as stack:

# %% brackets_in_the_keys
# misconception: keys as torch's pytree writes them | hint: feat_other_keys
# breaks: Its keys tell where each one was
# edits: paths_of_pytree
-                steps = [str(getattr(key, "idx", getattr(key, "key", getattr(key, "name", None)))) for key in path]
-                found[".".join([name, *steps])] = leaf.detach().clone()
+                found[name + pytree.keystr(path)] = leaf.detach().clone()

# %% one_dict_as_default
# misconception: a dict as default argument collects over all calls | hint: feat_one_dict
def collect(place, part, found={}):
    if isinstance(part, torch.Tensor):
        found[place] = part.detach().clone()
    elif isinstance(part, dict):
        for key, value in part.items():
            collect(f"{place}.{key}", value)
    elif isinstance(part, (tuple, list)):
        for i, value in enumerate(part):
            collect(f"{place}.{i}", value)
    return found


def every_tensor(model, layers, x):
    result = {}
    with ExitStack() as stack:
        for name in layers:
            hook = lambda m, a, o, name=name: result.update(collect(name, o))
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    return result
