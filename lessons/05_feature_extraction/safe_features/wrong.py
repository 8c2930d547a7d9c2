# nothing to break: Each layer returns one tensor and runs at most once

# %% clears_all_hooks
# misconception: empties the model's dicts of hooks | hint: removes_other_hooks
# breaks: other hooks stay
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

# %% clone_without_detach
# misconception: takes clone for a cut | hint: feat_graph
# breaks: it requires no gradient
# edits: reference
-        if not isinstance(output, torch.Tensor):
-            raise TypeError(f"{name} returned a {type(output).__name__}, not one tensor")
-        features[name] = output.detach().clone()
+        features[name] = output.clone()
@@
-
-
-features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% asks_for_a_gradient
# misconception: lets each copy require a gradient, so that a layer can be trained on it | hint: feat_graph
# breaks: it requires no gradient
# edits: clone_without_detach
-        features[name] = output.clone()
+        features[name] = output.detach().clone().requires_grad_()

# %% detach_only
# misconception: takes detach for a copy | hint: feat_alias
# breaks: Each value is what the layer returned, even if overwritten later
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

# %% entries_prepared
# misconception: prepares an entry for each layer | hint: feat_not_run
# breaks: A layer that did not run has no entry
# edits: clone_without_detach
-    features, handles = {}, []
+    features, handles = dict.fromkeys(layers), []
@@
-        features[name] = output.clone()
+        features[name] = output.detach().clone()

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
# misconception: leaves the hooks there | hint: feat_hook_left | canary
# breaks: Afterwards your hooks are gone
def safe_features(model, layers, x):
    features = {}

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    for name in layers:
        model.get_submodule(name).register_forward_hook(partial(keep, name))
    model(x)
    return features

# %% no_finally
# misconception: removes at the end only | hint: feat_error_skips
# breaks: even after an error
# edits: never_removed
-    features = {}
+    features, handles = {}, []
@@
-        model.get_submodule(name).register_forward_hook(partial(keep, name))
+        handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
     model(x)
+    for handle in handles:
+        handle.remove()

# %% on_top_of_torchvision
# misconception: trusts torchvision's extractor | hint: feat_alias
def safe_features(model, layers, x):
    features = create_feature_extractor(model, list(layers))(x)
    return {name: feature.detach().clone() for name, feature in features.items()}

# %% one_dict_cleared
# misconception: one dict for all calls, emptied at each | hint: feat_one_dict
# breaks: Each value is what the layer returned, even if overwritten later
KEPT = {}


def safe_features(model, layers, x):
    KEPT.clear()
    handles = []

    def keep(name, module, args, output):
        KEPT[name] = output.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return KEPT

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

# %% eval_mode
# misconception: switches the model to eval mode | hint: changes_mode
def safe_features(model, layers, x):
    features = {}
    with ExitStack() as stack:
        for name in layers:
            hook = lambda module, args, output, name=name: features.update({name: output.detach().clone()})
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model.eval()(x)
    return features

# %% runs_it_twice
# misconception: runs the model to see which layers run, and once more for the features | hint: feat_runs_twice
# breaks: runs `model` on `x` once
# edits: eval_mode
-        model.eval()(x)
+        model(x)
+        model(x)

# %% inference_mode
# misconception: takes inference mode for a cheaper no_grad | hint: feat_inference
# breaks: you can train a layer on it
# edits: no_finally
-    model(x)
+    with torch.inference_mode():
+        model(x)

# %% registers_before_try
# misconception: only the run stands inside try | hint: feat_error_skips
# breaks: or a misspelt name
# edits: no_finally
-    model(x)
-    for handle in handles:
-        handle.remove()
+    try:
+        model(x)
+    finally:
+        for handle in handles:
+            handle.remove()

# %% children_only
# misconception: looks among the children | hint: dotted_name
# edits: registers_before_try
     features, handles = {}, []
+    children = dict(model.named_children())
@@
-    for name in layers:
-        handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
@@
+        for name in layers:
+            handles.append(children[name].register_forward_hook(partial(keep, name)))
         model(x)
