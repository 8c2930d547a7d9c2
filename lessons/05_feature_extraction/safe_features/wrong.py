# nothing to break: Now deal with both troubles at once.
# nothing to break: Write `safe_features(model, layers, x)`.
# nothing to break: In the tests each layer runs at most once a call and returns one tensor
# nothing to break: For a layer that returns a tuple, as an LSTM does, the reference solution raises a `TypeError` that names the layer.
# nothing to break: No check asks that of yours.
# nothing to break: `layers` holds one name or more
# nothing to break: No model switches gradients, or registers hooks while it runs

# %% alias
# misconception: keeps the output itself | hint: feat_alias
def safe_features(model, layers, x):
    features, handles = {}, []

    def keep(name, module, args, output):
        features[name] = output

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% children_only
# misconception: looks among the children | hint: dotted_name
def safe_features(model, layers, x):
    features, handles = {}, []
    children = dict(model.named_children())

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    try:
        for name in layers:
            handles.append(children[name].register_forward_hook(partial(keep, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% clears_all_hooks
# misconception: empties the model's dicts of hooks | hint: removes_other_hooks
# breaks: Other people's hooks stay.
def safe_features(model, layers, x):
    features = {}

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    try:
        for name in layers:
            model.get_submodule(name).register_forward_hook(partial(keep, name))
        model(x)
    finally:
        for module in model.modules():
            module._forward_hooks.clear()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% clone_without_detach
# misconception: takes clone for a cut | hint: feat_graph
# breaks: No feature requires a gradient.
# edits: alias
-        features[name] = output
+        features[name] = output.clone()
@@
-        with torch.no_grad():
-            model(x)
+        model(x)

# %% clones_after_the_run
# misconception: copies when the run is over | hint: feat_alias
# edits: clone_without_detach
-        features[name] = output.clone()
+        features[name] = output
@@
-    return features
+    return {name: feature.detach().clone() for name, feature in features.items()}

# %% clones_batchnorm_only
# misconception: copies only where ResNet-18 overwrites | hint: feat_alias
# edits: clone_without_detach
-        features[name] = output.clone()
+        output = output.detach()
+        features[name] = output.clone() if isinstance(module, nn.BatchNorm2d) else output

# %% data_only
# misconception: takes .data for a copy | hint: feat_alias
# edits: exit_stack
-            stack.enter_context(
-                layer.register_forward_hook(lambda m, a, o, name=name: features.update({name: o.detach().clone()}))
-            )
+            stack.enter_context(layer.register_forward_hook(lambda m, a, o, name=name: features.update({name: o.data})))

# %% deepcopy
# misconception: deepcopy of a tensor with a history | hint: feat_deepcopy
# edits: clone_without_detach
+import copy
+
+
 def safe_features(model, layers, x):
@@
-        features[name] = output.clone()
+        features[name] = copy.deepcopy(output)

# %% detach_only
# misconception: takes detach for a copy | hint: feat_alias
# breaks: Each value is what the layer put out **at that moment**.
def safe_features(model, layers, x):
    features, handles = {}, []
    try:
        for name in layers:
            hook = lambda m, a, o, name=name: features.update({name: o.detach()})
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% dict_as_default
# misconception: the dict is a default argument | hint: stale_result
def safe_features(model, layers, x, features={}):
    handles = []

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return {name: features[name] for name in layers if name in features}


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% entries_prepared
# misconception: prepares an entry for each layer | hint: feat_not_run
# breaks: has no entry.
# edits: clone_without_detach
-    features, handles = {}, []
+    features, handles = dict.fromkeys(layers), []
@@
-        features[name] = output.clone()
+        features[name] = output.detach().clone()

# %% every_layer_looked_up
# misconception: takes it that every layer has run | hint: feat_not_run
# edits: clone_without_detach
-        features[name] = output.clone()
+        features[name] = output.detach().clone()
@@
-    return features
+    return {name: features[name] for name in layers}

# %% keeps_input
# misconception: keeps what goes in | hint: input_or_output
# edits: clone_without_detach
-    def keep(name, module, args, output):
-        features[name] = output.clone()
+    def keep(name, module, args):
+        features[name] = args[0].detach().clone()
@@
-            handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
+            handles.append(model.get_submodule(name).register_forward_pre_hook(partial(keep, name)))

# %% lambda_returns_a_tuple
# misconception: a lambda that returns a tuple replaces the output | hint: hook_replaces_output
# edits: detach_only
-            hook = lambda m, a, o, name=name: features.update({name: o.detach()})
+            hook = lambda m, a, o, name=name: (features.update({name: o.detach().clone()}), None)

# %% last_handle_only
# misconception: one variable for all handles | hint: feat_hook_left
# edits: clears_all_hooks
-            model.get_submodule(name).register_forward_hook(partial(keep, name))
+            handle = model.get_submodule(name).register_forward_hook(partial(keep, name))
@@
-        for module in model.modules():
-            module._forward_hooks.clear()
+        handle.remove()

# %% late_binding
# misconception: the loop variable is read when the hook runs | hint: loop_variable
# edits: detach_only
-            hook = lambda m, a, o, name=name: features.update({name: o.detach()})
-            handles.append(model.get_submodule(name).register_forward_hook(hook))
+
+            def keep(module, args, output):
+                features[name] = output.detach().clone()
+
+            handles.append(model.get_submodule(name).register_forward_hook(keep))

# %% never_removed
# misconception: leaves the hooks there | hint: feat_hook_left
# breaks: Afterwards your hooks are gone
def safe_features(model, layers, x):
    features = {}

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    for name in layers:
        model.get_submodule(name).register_forward_hook(partial(keep, name))
    model(x)
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% no_finally
# misconception: removes at the end only | hint: feat_error_skips
# breaks: also if the model raises an error
def safe_features(model, layers, x):
    features, handles = {}, []

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    for name in layers:
        handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
    model(x)
    for handle in handles:
        handle.remove()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% numpy_view
# misconception: takes numpy() for a copy | hint: feat_alias
# edits: clone_without_detach
-        features[name] = output.clone()
+        features[name] = torch.from_numpy(output.detach().cpu().numpy())

# %% on_top_of_torchvision
# misconception: trusts torchvision's extractor | hint: feat_alias
def safe_features(model, layers, x):
    features = create_feature_extractor(model, list(layers))(x)
    return {name: feature.detach().clone() for name, feature in features.items()}


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% one_dict_cleared
# misconception: one dict for all calls, emptied at each | hint: feat_one_dict
# breaks: by a later call
# edits: dict_as_default
-def safe_features(model, layers, x, features={}):
+KEPT = {}
+
+
+def safe_features(model, layers, x):
+    KEPT.clear()
@@
-        features[name] = output.detach().clone()
+        KEPT[name] = output.detach().clone()
@@
-    return {name: features[name] for name in layers if name in features}
+    return KEPT

# %% removed_before_the_run
# misconception: the with ends before the model runs | hint: nothing_kept
def safe_features(model, layers, x):
    features = {}
    for name in layers:
        hook = lambda m, a, o, name=name: features.update({name: o.detach().clone()})
        with model.get_submodule(name).register_forward_hook(hook):
            pass
    model(x)
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% removes_itself
# misconception: each hook removes itself when it fires | hint: feat_hook_left
def safe_features(model, layers, x):
    features, handles = {}, {}

    def keep(name, module, args, output):
        features[name] = output.detach().clone()
        handles.pop(name).remove()

    for name in layers:
        handles[name] = model.get_submodule(name).register_forward_hook(partial(keep, name))
    try:
        model(x)
    except BaseException:
        for handle in handles.values():
            handle.remove()
        raise
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% return_in_finally
# misconception: a return in finally hides the error | hint: feat_error_swallowed
# breaks: The error reaches the caller.
# edits: no_finally
-    model(x)
+    try:
+        model(x)
+    except Exception:
+        pass

# %% returns_both
# misconception: returns output and features | hint: output_for_features
# breaks: returns a dict: under each name in `layers` the output of that layer
# edits: every_layer_looked_up
-        model(x)
+        output = model(x)
@@
-    return {name: features[name] for name in layers}
+    return output, features

# %% returns_nothing
# misconception: keeps the features and returns nothing | hint: returns_nothing
features = {}


def safe_features(model, layers, x):
    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    handles = [model.get_submodule(name).register_forward_hook(partial(keep, name)) for name in layers]
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()


safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% switches_requires_grad_off
# misconception: switches the gradient of a non-leaf off | hint: feat_graph
# edits: clone_without_detach
-        features[name] = output.clone()
+        features[name] = output.clone().requires_grad_(False)

# %% typed_in_forward
# misconception: the small model's forward, typed again | hint: typed_in_names
def safe_features(model, layers, x):
    with torch.no_grad():
        found, block = {}, model.block
        found["conv1"] = model.conv1(x)
        found["bn1"] = model.bn1(found["conv1"])
        found["relu"] = torch.relu(found["bn1"])
        found["block.conv1"] = block.conv1(found["relu"])
        found["block.bn1"] = block.bn1(found["block.conv1"])
        found["block.conv2"] = block.conv2(torch.relu(found["block.bn1"]))
        found["block.bn2"] = block.bn2(found["block.conv2"])
        found["block"] = torch.relu(found["block.bn2"] + found["relu"])
        found["pool"] = model.pool(found["block"])
        found["fc"] = model.fc(found["pool"].flatten(1))
    return {name: found[name] for name in layers}


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% in_eval_mode
# misconception: switches to eval mode before it looks | hint: changes_mode
# breaks: in the mode that it is in
def safe_features(model, layers, x):
    features, handles = {}, []
    model.eval()
    try:
        for name in layers:
            hook = lambda module, args, output, name=name: features.update({name: output.detach().clone()})
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return features

# %% some_errors_only
# misconception: cleans up after one kind of error only | hint: feat_error_skips
def safe_features(model, layers, x):
    features, handles = {}, []
    for name in layers:
        hook = lambda module, args, output, name=name: features.update({name: output.detach().clone()})
        handles.append(model.get_submodule(name).register_forward_hook(hook))
    try:
        model(x)
    except RuntimeError:
        for handle in handles:
            handle.remove()
        raise
    for handle in handles:
        handle.remove()
    return features

# %% through_float32
# misconception: keeps every feature as float32 | hint: feat_digits_lost
# edits: in_eval_mode
-    model.eval()
@@
-            hook = lambda module, args, output, name=name: features.update({name: output.detach().clone()})
+            hook = lambda module, args, output, name=name: features.update({name: output.detach().clone().float()})

# %% names_that_contain
# misconception: takes every layer whose name contains the one asked for | hint: name_in_name
def safe_features(model, layers, x):
    features, handles = {}, []
    try:
        for name, module in model.named_modules():
            for layer in layers:
                if name == layer or name.endswith(f".{layer}"):
                    hook = lambda module, args, output, layer=layer: features.update({layer: output.detach().clone()})
                    handles.append(module.register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return features

# %% runs_it_twice
# misconception: runs the model to see which layers run, and once more for the features | hint: feat_runs_twice
# breaks: on `x` once
def safe_features(model, layers, x):
    features = {}
    with ExitStack() as stack:
        for name in layers:
            hook = lambda module, args, output, name=name: features.update({name: output.detach().clone()})
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model(x)
        model(x)
    return features

# %% an_interrupt_skips_the_end
# misconception: removes the hooks after an Exception, and an interrupt is none | hint: feat_error_skips
# breaks: or somebody interrupts it
# edits: some_errors_only
-    except RuntimeError:
+    except Exception:

# %% calls_forward
# misconception: calls the model's forward, past the hooks on the model itself | hint: feat_forward_called
# breaks: It runs `model` on `x` once
def safe_features(model: nn.Module, layers: list[str], x: torch.Tensor) -> dict[str, torch.Tensor]:
    features = {}
    with ExitStack() as stack:
        for name in layers:
            stack.enter_context(model.get_submodule(name).register_forward_hook(
                lambda m, a, o, name=name: features.update({name: o.detach().clone()})))
        model.forward(x)
    return features

# %% copies_by_multiplying
# misconception: copies by a product, which turns whole numbers into floats | hint: feat_digits_lost
# breaks: Each value is what the layer put out **at that moment**.
def safe_features(model: nn.Module, layers: list[str], x: torch.Tensor) -> dict[str, torch.Tensor]:
    features = {}
    with ExitStack() as stack:
        for name in layers:
            stack.enter_context(model.get_submodule(name).register_forward_hook(
                lambda m, a, o, name=name: features.update({name: o.detach() * 1.0})))
        model(x)
    return features

# %% to_the_device_of_the_first_parameter
# misconception: asks the model's first parameter for its device | hint: feat_first_parameter
# breaks: It runs `model` on `x` once
def safe_features(model, layers, x):
    found = {}
    with ExitStack() as stack:
        for name in layers:
            hook = lambda m, a, o, name=name: found.update({name: o.detach().clone()})
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model(x.to(next(model.parameters()).device))
    return found

# %% times_one
# misconception: copies by a product with 1, which turns true and false into whole numbers | hint: feat_digits_lost
# breaks: Each value is what the layer put out **at that moment**.
def safe_features(model, layers, x):
    found = {}
    with ExitStack() as stack:
        for name in layers:
            hook = lambda m, a, o, name=name: found.update({name: o.detach() * 1})
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    return found

# %% deep_copies_without_grad
# misconception: deep copies, with autograd switched off; the copy of a parameter requires a gradient all the same | hint: feat_graph
# breaks: No feature requires a gradient.
import copy


def safe_features(model, layers, x):
    found = {}
    with torch.no_grad(), ExitStack() as stack:
        for name in layers:
            hook = lambda m, a, o, name=name: found.update({name: copy.deepcopy(o)})
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    return found
