# nothing to break: Assume that each layer returns one tensor and runs once

# %% layers_on_the_input
# misconception: runs each layer on the model's input | hint: layers_on_the_input
# breaks: Calling it on `x` runs the model once
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = layers

    def forward(self, x):
        return {name: self.model.get_submodule(name)(x) for name in self.layers}

# %% paired_by_position
# misconception: pairs names and outputs by position | hint: by_position
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
# breaks: No call adds a hook
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

# %% returns_nothing
# misconception: keeps the features but returns nothing | hint: returns_nothing | canary
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

    def forward(self, x):
        self.model(x)

# %% class_attribute
# misconception: the dict belongs to the class | hint: shared_state
# breaks: Two `FeatureExt` objects on one model do not disturb each other
# edits: returns_nothing
+    features = {}
+
     def __init__(self, model, layers):
@@
-        self.features = {}
@@
+        return self.features

# %% forces_eval
# misconception: switches the model to eval mode | hint: changes_mode
# breaks: changes a mode or the model's output
# edits: returns_nothing
+        model.eval()
         for name in layers:
@@
+        self.features.clear()
         self.model(x)
@@
+        return dict(self.features)

# %% attribute_access
# misconception: getattr with a dotted name | hint: dotted_name
# breaks: `layers` are dotted names
# edits: forces_eval
-        model.eval()
@@
-            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))
+            getattr(model, name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

# %% every_module
# misconception: keeps all layers | hint: all_layers
# breaks: its keys are the names in `layers`
# edits: attribute_access
-        for name in layers:
-            getattr(model, name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))
+        for name, module in model.named_modules():
+            module.register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

# %% hook_returns_feature
# misconception: the hook hands a scaled feature on | hint: changes_the_flow
# edits: attribute_access
-            getattr(model, name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))
+            model.get_submodule(name).register_forward_hook(self.hook(name))
+
+    def hook(self, name):
+        def fn(module, args, output):
+            self.features[name] = output
+            return output / output.abs().max()
+
+        return fn

# %% keeps_first_call
# misconception: the first call's features stay | hint: stale_result
# breaks: each call returns the features of its `x`
# edits: returns_nothing
-            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))
+            hook = lambda m, a, o, name=name: self.features.setdefault(name, o) is None or None
+            model.get_submodule(name).register_forward_hook(lambda m, a, o, hook=hook: hook(m, a, o) and None)
@@
+        return self.features

# %% keeps_input
# misconception: keeps the input | hint: input_or_output
# breaks: its values these layers' outputs
# edits: attribute_access
-            getattr(model, name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))
+            model.get_submodule(name).register_forward_hook(
+                lambda m, a, o, name=name: self.features.update({name: a[0]})
+            )

# %% keeps_shapes
# misconception: keeps shapes | hint: shape_for_output
# edits: keeps_input
-                lambda m, a, o, name=name: self.features.update({name: a[0]})
+                lambda m, a, o, name=name: self.features.update({name: o.shape})

# %% late_binding
# misconception: the loop variable is read when the hook runs | hint: loop_variable
# edits: attribute_access
-            getattr(model, name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))
+            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.features.update({name: o}))

# %% name_contains
# misconception: matches a part of a name | hint: name_in_name
# edits: every_module
-            module.register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))
+            if any(layer in name for layer in layers):
+                module.register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

# %% name_ends_with
# misconception: takes any layer whose name ends with the one that was asked for | hint: name_in_name
# edits: every_module
-            module.register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))
+            for layer in layers:
+                if name.endswith(layer):
+                    module.register_forward_hook(lambda m, a, o, layer=layer: self.features.update({layer: o}))

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
# edits: layers_on_the_input
-        return {name: self.model.get_submodule(name)(x) for name in self.layers}
+        m, features = self.model, {}
+        x = features["conv1"] = m.conv1(x)
+        x = m.maxpool(m.relu(m.bn1(x)))
+        for name in ("layer1", "layer2", "layer3", "layer4"):
+            x = features[name] = getattr(m, name)(x)
+        x = features["avgpool"] = m.avgpool(x)
+        features["fc"] = m.fc(x.flatten(1))
+        return {name: features[name] for name in self.layers}

# %% runs_it_twice
# misconception: runs the model to see whether it works, and once more for the features | hint: feat_runs_twice
# breaks: runs the model once
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

# %% one_dict_for_all_calls
# misconception: returns the dict that the next call fills again | hint: feat_one_dict
# breaks: returns a new dict
# edits: factory_method
-        return {**self._features}
+        return self._features

# %% clears_first
# misconception: takes all hooks off a layer before it registers its own | hint: removes_other_hooks
# breaks: Two `FeatureExt` objects on one model do not disturb each other
# edits: new_dict_first
         for name in layers:
+            model.get_submodule(name)._forward_hooks.clear()

# %% on_top_of_torchvision
# misconception: lets torchvision trace the model, and puts the modes back | hint: feat_traced
# breaks: a module that wraps any model
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        modes = {module: module.training for module in model.modules()}
        self.extractor = create_feature_extractor(model, return_nodes={name: name for name in layers})
        for module, mode in modes.items():
            module.training = mode

    def forward(self, x):
        return self.extractor(x)

# %% puts_one_mode_back
# misconception: looks in eval mode, and puts the model's mode back, for all modules | hint: changes_mode
# edits: new_dict_first
         self.features = {}
+        mode = self.model.training
+        self.model.eval()
         self.model(x)
+        self.model.train(mode)

# %% dict_in_forward_only
# misconception: makes the dict in forward only, but the hooks are there before | hint: feat_made_too_late
# edits: new_dict_first
-        self.model, self.features = model, {}
+        self.model = model
