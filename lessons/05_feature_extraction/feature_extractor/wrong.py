# nothing to break: The tests ask for layers that run once a call
# nothing to break: What to do about the others comes right after.
# nothing to break: What you keep may be detached or not.
# nothing to break: A later call may change the dict that an earlier one returned.
# nothing to break: Whether what comes after the last of these layers runs as well is up to you.
# nothing to break: No model raises an error or catches one
# nothing to break: All modules of a model are in the same mode

# %% attribute_access
# misconception: getattr with a dotted name | hint: dotted_name
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        for name in layers:
            getattr(model, name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

    def forward(self, x):
        self.features.clear()
        self.model(x)
        return dict(self.features)


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool"])
features = extractor(torch.ones(1, 3, 96, 96))

# %% walks_over_the_children
# misconception: hooks on those direct children that are asked for | hint: feat_top_level
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        for name, child in model.named_children():
            if name in layers:
                child.register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

    def forward(self, x):
        self.model(x)
        return dict(self.features)

# %% children_only
# misconception: looks for nested layers among the children | hint: dotted_name
# edits: attribute_access
         self.features = {}
+        children = dict(model.named_children())
@@
-            getattr(model, name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))
+            children[name].register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

# %% class_attribute
# misconception: the dict belongs to the class | hint: shared_state
# breaks: Two of them, even on one model, do not disturb each other.
class FeatureExt(nn.Module):
    features = {}

    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

    def forward(self, x):
        self.model(x)
        return self.features


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))

# %% class_names_as_keys
# misconception: files outputs under class names | hint: class_or_name
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.update({type(m).__name__: o}))

    def forward(self, x):
        self.features.clear()
        self.model(x)
        return dict(self.features)

# %% clears_all_hooks
# misconception: removes everybody's hooks to start afresh | hint: removes_other_hooks
# edits: class_names_as_keys
         self.features = {}
+        for module in model.modules():
+            module._forward_hooks.clear()
@@
-            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.update({type(m).__name__: o}))
+            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

# %% cuts_the_head
# misconception: cuts the last layer off | hint: changes_model
# breaks: `model(x)` gives what it gave before
# edits: clears_all_hooks
-        for module in model.modules():
-            module._forward_hooks.clear()
+        last = list(dict(model.named_children()))[-1]
+        if last not in layers:
+            setattr(model, last, nn.Identity())

# %% every_module
# misconception: keeps all layers | hint: all_layers
# breaks: Its keys are exactly the names in `layers`.
# edits: class_names_as_keys
-        for name in layers:
-            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.update({type(m).__name__: o}))
+        for name, module in model.named_modules():
+            module.register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

# %% features_in_a_global
# misconception: the features live in one variable for all objects | hint: shared_state
kept = {}


class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        if all(not m._forward_hooks for m in model.modules()):
            kept.clear()
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: kept.update({name: o}))

    def forward(self, x):
        self.model(x)
        return dict(kept)

# %% forces_eval
# misconception: switches the model to eval mode | hint: changes_mode
# edits: clears_all_hooks
-        for module in model.modules():
-            module._forward_hooks.clear()
+        model.eval()

# %% forces_train
# misconception: switches the model to training mode | hint: changes_mode
# edits: forces_eval
-        model.eval()
+        model.train()

# %% hook_returns_feature
# misconception: the hook hands a scaled feature on | hint: changes_the_flow
# edits: class_names_as_keys
-            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.update({type(m).__name__: o}))
+            model.get_submodule(name).register_forward_hook(self.hook(name))
+
+    def hook(self, name):
+        def fn(module, args, output):
+            self.features[name] = output
+            return output / output.abs().max()
+
+        return fn

# %% hook_returns_what_it_keeps
# misconception: the hook returns the detached feature, which goes on in its place | hint: changes_model
# breaks: It leaves the model as it is
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        for name in layers:
            model.get_submodule(name).register_forward_hook(partial(self.keep, name))

    def keep(self, name, module, args, output):
        self.features[name] = output.detach()
        return self.features[name]

    def forward(self, x):
        self.model(x)
        return dict(self.features)

# %% hook_returns_tuple
# misconception: a lambda that returns a tuple replaces the output | hint: hook_replaces_output
# edits: class_names_as_keys
-            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.update({type(m).__name__: o}))
+            model.get_submodule(name).register_forward_hook(
+                lambda m, a, o, name=name: (self.features.update({name: o}), None)
+            )

# %% keeps_first_call
# misconception: the first call's features stay | hint: stale_result
# breaks: each call returns the features of its own input
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        for name in layers:
            hook = lambda m, a, o, name=name: self.features.setdefault(name, o) is None or None
            model.get_submodule(name).register_forward_hook(lambda m, a, o, hook=hook: hook(m, a, o) and None)

    def forward(self, x):
        self.model(x)
        return self.features

# %% keeps_input
# misconception: keeps the input | hint: input_or_output
# breaks: Each value is the output of that layer in this run.
# edits: hook_returns_tuple
-                lambda m, a, o, name=name: (self.features.update({name: o}), None)
+                lambda m, a, o, name=name: self.features.update({name: a[0]})

# %% keeps_input_tuple
# misconception: a forward-pre hook keeps the tuple of inputs | hint: input_or_output
# edits: class_names_as_keys
-            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.update({type(m).__name__: o}))
+            model.get_submodule(name).register_forward_pre_hook(lambda m, a, name=name: self.features.update({name: a}))

# %% keeps_shapes
# misconception: keeps shapes | hint: shape_for_output
# edits: hook_returns_tuple
-                lambda m, a, o, name=name: (self.features.update({name: o}), None)
+                lambda m, a, o, name=name: self.features.update({name: o.shape})

# %% last_part_as_key
# misconception: files nested layers under the last part of their name | hint: dotted_name
# edits: class_names_as_keys
-            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.update({type(m).__name__: o}))
+            key = name.split(".")[-1]
+            model.get_submodule(name).register_forward_hook(lambda m, a, o, key=key: self.features.update({key: o}))

# %% late_binding
# misconception: the loop variable is read when the hook runs | hint: loop_variable
# edits: class_names_as_keys
-            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.update({type(m).__name__: o}))
+            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.update({name: o}))

# %% late_binding_filled
# misconception: the loop variable is read when the hook runs, over a filled dict | hint: loop_variable
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {name: torch.empty(0) for name in layers}
        for name in layers:

            def hook(module, args, output):
                self.features[name] = output

            model.get_submodule(name).register_forward_hook(hook)

    def forward(self, x):
        self.model(x)
        return self.features

# %% layers_on_the_input
# misconception: runs each layer on the model's input | hint: layers_on_the_input
# breaks: Calling it on `x` runs the model on `x`
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = layers

    def forward(self, x):
        return {name: self.model.get_submodule(name)(x) for name in self.layers}

# %% leaves_eval_behind
# misconception: leaves the model in eval mode | hint: changes_mode
# breaks: the model stays in the mode (`train` or `eval`) that it is in
# edits: keeps_first_call
-            hook = lambda m, a, o, name=name: self.features.setdefault(name, o) is None or None
-            model.get_submodule(name).register_forward_hook(lambda m, a, o, hook=hook: hook(m, a, o) and None)
+            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))
@@
         self.model(x)
+        self.model.eval()

# %% leaves_in_a_row
# misconception: runs the leaves one after another | hint: children_in_a_row
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = layers

    def forward(self, x):
        features = {}
        for name, module in self.model.named_modules():
            if not list(module.children()):
                x = module(x)
            for layer in self.layers:
                if name == layer or name.startswith(layer + "."):
                    features[layer] = x
        return features

# %% list_per_layer
# misconception: a list for each layer | hint: all_calls
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {name: [] for name in layers}
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: self.features[name].append(o))

    def forward(self, x):
        self.model(x)
        return self.features

# %% local_name
# misconception: assigns to a local name | hint: nothing_kept
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {name: None for name in layers}
        for name in layers:
            model.get_submodule(name).register_forward_hook(self.hook(self.features[name]))

    def hook(self, feature):
        def fn(module, args, output):
            feature = output

        return fn

    def forward(self, x):
        self.model(x)
        return self.features

# %% model_never_runs
# misconception: returns without running the model | hint: nothing_kept
# edits: leaves_eval_behind
-        self.features = {}
+        self.features = {name: torch.empty(0) for name in layers}
@@
-        self.model(x)
-        self.model.eval()

# %% name_contains
# misconception: matches a part of a name | hint: name_in_name
# edits: every_module
-            module.register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))
+            if any(layer in name for layer in layers):
+                module.register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

# %% name_ends_with
# misconception: matches the end of a name | hint: name_in_name
# edits: class_names_as_keys
-        for name in layers:
-            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.update({type(m).__name__: o}))
+        for full, module in model.named_modules():
+            for name in layers:
+                if full.endswith(name):
+                    module.register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

# %% paired_by_position
# misconception: pairs names and outputs by position | hint: by_position
# breaks: in any order
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers, self.outputs = layers, []
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.outputs.append(o))

    def forward(self, x):
        self.outputs.clear()
        self.model(x)
        return dict(zip(self.layers, self.outputs))

# %% registers_in_forward
# misconception: new hooks at each call, never removed | hint: hooks_pile_up
# breaks: Later calls add no further hooks to the model.
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers, self.features = layers, {}

    def forward(self, x):
        for name in self.layers:
            hook = lambda m, a, o, name=name: self.features.update({name: o})
            self.model.get_submodule(name).register_forward_hook(hook)
        self.model(x)
        return self.features

# %% removes_after_first_call
# misconception: removes the hooks after the first call | hint: silent_afterwards
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features, self.handles = {}, []
        for name in layers:
            hook = lambda m, a, o, name=name: self.features.update({name: o})
            self.handles.append(model.get_submodule(name).register_forward_hook(hook))

    def forward(self, x):
        self.features.clear()
        self.model(x)
        for handle in self.handles:
            handle.remove()
        return dict(self.features)

# %% returns_both
# misconception: returns output and features | hint: output_for_features
# edits: leaves_eval_behind
-        self.model(x)
-        self.model.eval()
-        return self.features
+        output = self.model(x)
+        return output, self.features

# %% returns_list
# misconception: a list without names | hint: list_for_dict
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = []
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.append(o))

    def forward(self, x):
        self.features.clear()
        self.model(x)
        return list(self.features)

# %% returns_nothing
# misconception: keeps the features but returns nothing | hint: returns_nothing
# edits: leaves_eval_behind
-        self.model.eval()
-        return self.features

# %% returns_output
# misconception: returns the model's output | hint: output_for_features
# edits: returns_nothing
-        self.model(x)
+        return self.model(x)

# %% two_arguments
# misconception: a forward hook with two arguments | hint: hook_arguments
# edits: hook_returns_feature
-        def fn(module, args, output):
+        def fn(module, output):
@@
-            return output / output.abs().max()

# %% typed_in_layers
# misconception: ResNet's forward typed again | hint: typed_in_names
# breaks: a module that wraps any model
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = layers

    def forward(self, x):
        m, features = self.model, {}
        x = features["conv1"] = m.conv1(x)
        x = m.maxpool(m.relu(m.bn1(x)))
        for name in ("layer1", "layer2", "layer3", "layer4"):
            x = features[name] = getattr(m, name)(x)
        x = features["avgpool"] = m.avgpool(x)
        features["fc"] = m.fc(x.flatten(1))
        return {name: features[name] for name in self.layers}

# %% name_starts_with
# misconception: matches the beginning of a name | hint: name_in_name
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = layers
        self.features = {}
        for name, module in model.named_modules():
            for layer in layers:
                if name.startswith(layer) and not any(name.startswith(other) for other in layers if len(other) > len(layer)):
                    module.register_forward_hook(partial(self.keep, layer))

    def keep(self, name, module, args, output):
        self.features[name] = output

    def forward(self, x):
        self.model(x)
        return dict(self.features)

# %% walks_over_private_places
# misconception: walks over the places of each module, also the empty ones | hint: feat_empty_place
# edits: name_starts_with
-        for name, module in model.named_modules():
-            for layer in layers:
-                if name.startswith(layer) and not any(name.startswith(other) for other in layers if len(other) > len(layer)):
-                    module.register_forward_hook(partial(self.keep, layer))
+        self.walk(model, "")
+
+    def walk(self, module, path):
+        for name, child in module._modules.items():
+            if path + name in self.layers:
+                child.register_forward_hook(partial(self.keep, path + name))
+            self.walk(child, f"{path}{name}.")

# %% one_picture
# misconception: keeps the first sample of the batch | hint: one_sample
# edits: hook_returns_what_it_keeps
         self.model = model
+        self.layers = layers
@@
-        self.features[name] = output.detach()
-        return self.features[name]
+        self.features[name] = output[0]

# %% freezes_the_model
# misconception: freezes the parameters, because extraction is no training | hint: feat_freezes
# breaks: It leaves the model as it is
# edits: one_picture
-        self.model = model
+        self.model = model.requires_grad_(False)
@@
-        self.features[name] = output[0]
+        self.features[name] = output

# %% runs_it_twice
# misconception: runs the model to see whether it works, and once more for the features | hint: feat_runs_twice
# breaks: on `x` once
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model, self.features = model, {}
        for name in layers:
            hook = lambda module, args, output, name=name: self.features.update({name: output})
            model.get_submodule(name).register_forward_hook(hook)

    def forward(self, x):
        self.model(x)
        self.features.clear()
        self.model(x)
        return dict(self.features)

# %% runs_a_copy
# misconception: a copy of the model runs, which stays as the model was | hint: feat_runs_a_copy
# breaks: as it is at that time
import copy


class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model, self.features = copy.deepcopy(model), {}
        for name in layers:
            hook = lambda module, args, output, name=name: self.features.update({name: output})
            self.model.get_submodule(name).register_forward_hook(hook)

    def forward(self, x):
        self.model(x)
        return dict(self.features)

# %% copies_by_multiplying
# misconception: copies by a product, which turns whole numbers into floats | hint: feat_digits_lost
# breaks: Each value is the output of that layer in this run.
class FeatureExt(nn.Module):
    def __init__(self, model: nn.Module, layers: list[str]) -> None:
        super().__init__()
        self.model = model
        self.layers = layers
        self.found = {}
        for name in layers:
            model.get_submodule(name).register_forward_hook(partial(self.keep, name))

    def keep(self, name, module, args, output):
        self.found[name] = output.detach() * 1.0

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        self.found = {}
        self.model(x)
        return self.found

# %% name_written_on_the_layer
# misconception: writes the name on the layer, where another extractor writes another one | hint: shared_state
# breaks: Two of them, even on one model, do not disturb each other.
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model, self.layers, self.features = model, layers, {}
        for name, module in model.named_modules():
            module._feature_name = name
            if name in layers:
                module.register_forward_hook(self.keep)

    def keep(self, module, args, output):
        self.features[module._feature_name] = output

    def forward(self, x):
        self.features = {}
        self.model(x)
        return self.features

# %% to_the_device_of_the_first_parameter
# misconception: asks the model's first parameter for its device | hint: feat_first_parameter
# breaks: wraps any model
# edits: freezes_the_model
-        self.model = model.requires_grad_(False)
-        self.layers = layers
-        self.features = {}
+        self.model, self.features = model, {}
@@
-        self.model(x)
+        self.model(x.to(next(self.model.parameters()).device))

# %% times_one
# misconception: copies by a product with 1, which turns true and false into whole numbers | hint: feat_digits_lost
# breaks: Each value is the output of that layer in this run.
# edits: to_the_device_of_the_first_parameter
-        self.features[name] = output
+        self.features[name] = output.detach() * 1
@@
-        self.model(x.to(next(self.model.parameters()).device))
+        self.model(x)

# %% output_under_a_key
# misconception: puts the model's output beside the features | hint: output_for_features
# breaks: Its keys are exactly the names in `layers`.
# edits: times_one
-        self.features[name] = output.detach() * 1
+        self.features[name] = output.detach()
@@
-        self.model(x)
-        return dict(self.features)
+        self.features["output"] = self.model(x)
+        return self.features

# %% squeezed
# misconception: takes away the dimensions of size 1 | hint: feat_other_shape
# breaks: Each value is the output of that layer in this run.
# edits: times_one
-        self.features[name] = output.detach() * 1
+        self.features[name] = output.detach().squeeze()

# %% one_row_a_picture
# misconception: flattens each feature | hint: feat_other_shape
# breaks: Each value is the output of that layer in this run.
# edits: squeezed
-        self.features[name] = output.detach().squeeze()
+        self.features[name] = output.detach().flatten(1)
