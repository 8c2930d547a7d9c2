# nothing to break: Write `patch_activation(model, layer, clean, corrupted, channels=None)`.
# nothing to break: Your answer is checked in eval mode only

# %% channels_ignored
# misconception: patches the whole layer always | hint: feat_channels_ignored
# breaks: only these channels (dimension 1 of the output) are replaced
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []
    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):
        model(clean)
    with module.register_forward_hook(lambda m, a, o: kept[0]):
        return model(corrupted)

# %% clean_answer
# misconception: returns the answer to the clean input | hint: feat_returns_clean
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []
    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):
        answer = model(clean)
    with module.register_forward_hook(lambda m, a, o: kept[0]):
        model(corrupted)
    return answer

# %% patches_the_input
# misconception: patches what goes into the layer | hint: feat_patches_input
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []

    def patch(m, args):
        if channels is None:
            return kept[0]
        patched = args[0].clone()
        patched[:, channels] = kept[0][:, channels]
        return patched

    with module.register_forward_pre_hook(lambda m, args: kept.append(args[0].detach().clone())):
        model(clean)
    with module.register_forward_pre_hook(patch):
        return model(corrupted)

# %% returns_the_feature
# misconception: returns the activation | hint: feat_returns_feature
# breaks: `patch_activation` returns the model's answer
# edits: channels_ignored
-        return model(corrupted)
+        model(corrupted)
+    return kept[0]

# %% writes_in_place
# misconception: writes into the layer's output | hint: feat_writes_into_input
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []

    def patch(m, a, output):
        if channels is None:
            output.copy_(kept[0])
        else:
            output[:, channels] = kept[0][:, channels]

    with torch.no_grad():
        with module.register_forward_hook(lambda m, a, o: kept.append(o.clone())):
            model(clean)
        with module.register_forward_hook(patch):
            return model(corrupted)

# %% picture_channels
# misconception: takes each output for a batch of pictures | hint: some_dimensions
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []

    def patch(module, args, output):
        if channels is None:
            return kept[0]
        patched = output.clone()
        patched[:, channels, :, :] = kept[0][:, channels, :, :]
        return patched

    with module.register_forward_hook(lambda module, args, output: kept.append(output.detach().clone())):
        model(clean)
    with module.register_forward_hook(patch):
        return model(corrupted)

# %% last_channel_only
# misconception: patches one channel of the list, the last one | hint: feat_last_channel
# edits: picture_channels
-        patched[:, channels, :, :] = kept[0][:, channels, :, :]
+        for channel in channels:
+            patched = output.clone()
+            patched[:, channel] = kept[0][:, channel]

# %% switches_to_eval
# misconception: switches to eval mode, and leaves it so | hint: changes_mode
# breaks: every module keeps its mode
# edits: picture_channels
+    model.eval()
     module, kept = model.get_submodule(layer), []
@@
-        patched[:, channels, :, :] = kept[0][:, channels, :, :]
+        patched[:, channels] = kept[0][:, channels]

# %% alias
# misconception: keeps the clean output itself | hint: feat_alias
# breaks: makes `layer` (a dotted name) return what this layer returns for `clean`
# edits: switches_to_eval
-    model.eval()
@@
-    def patch(module, args, output):
+    def patch(m, a, output):
@@
-    with module.register_forward_hook(lambda module, args, output: kept.append(output.detach().clone())):
+    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach())):

# %% direct_child
# misconception: looks among the children | hint: dotted_name
# edits: alias
-    module, kept = model.get_submodule(layer), []
+    module, kept = getattr(model, layer), []
@@
-    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach())):
+    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):

# %% empty_is_none
# misconception: takes an empty list for None | hint: feat_none_or_empty
# breaks: an empty list means none
# edits: alias
-        if channels is None:
+        if not channels:
@@
-    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach())):
+    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):

# %% last_dimension
# misconception: takes the last dimension for the channels | hint: feat_channel_dimension
# edits: empty_is_none
-        if not channels:
+        if channels is None:
@@
-        patched[:, channels] = kept[0][:, channels]
+        patched[..., channels] = kept[0][..., channels]

# %% first_dimension
# misconception: replaces samples, where channels are asked for | hint: feat_channel_dimension
# breaks: only these channels (dimension 1 of the output) are replaced
# edits: last_dimension
-        patched[..., channels] = kept[0][..., channels]
+        for channel in channels:
+            patched[channel % len(patched)] = kept[0][channel % len(patched)]

# %% name_moved
# misconception: gives the name another value in the hook | hint: feat_patch_never_ran
# edits: last_dimension
-            return kept[0]
-        patched = output.clone()
-        patched[..., channels] = kept[0][..., channels]
-        return patched
+            output = kept[0]
+        else:
+            output = output.clone()
+            output[:, channels] = kept[0][:, channels]

# %% nothing_returned
# misconception: returns nothing | hint: returns_nothing | canary
# edits: empty_is_none
-        if not channels:
+        if channels is None:
@@
-        return model(corrupted)
+        model(corrupted)

# %% other_channels
# misconception: patches all channels but those named | hint: feat_channels_inverted
# edits: last_dimension
-        patched = output.clone()
-        patched[..., channels] = kept[0][..., channels]
+        patched = kept[0].clone()
+        patched[:, channels] = output[:, channels]

# %% patch_stays
# misconception: leaves the patch there | hint: feat_hook_left
# breaks: No hook of yours stays
# edits: nothing_returned
-    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):
-        model(clean)
-    with module.register_forward_hook(patch):
-        model(corrupted)
+    handle = module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone()))
+    model(clean)
+    handle.remove()
+    handle = module.register_forward_hook(patch)
+    return model(corrupted)

# %% first_hook_stays
# misconception: leaves the first hook there | hint: feat_hook_left
# edits: patch_stays
+    handle = module.register_forward_hook(patch)
+    answer = model(corrupted)
     handle.remove()
@@
-    handle = module.register_forward_hook(patch)
-    return model(corrupted)
+    return answer

# %% clears_all_hooks
# misconception: empties the layer's dict of hooks | hint: removes_other_hooks
# edits: first_hook_stays
-    handle = module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone()))
+    module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone()))
@@
-    handle = module.register_forward_hook(patch)
+    module._forward_hooks.clear()
+    module.register_forward_hook(patch)
@@
-    handle.remove()
+    module._forward_hooks.clear()

# %% roles_swapped
# misconception: patches the clean run | hint: feat_roles_swapped
# edits: nothing_returned
-        model(clean)
+        model(corrupted)
@@
-        model(corrupted)
+        return model(clean)

# %% zeros_elsewhere
# misconception: begins with zeros | hint: feat_zero_elsewhere
# edits: last_dimension
-        patched = output.clone()
-        patched[..., channels] = kept[0][..., channels]
+        patched = torch.zeros_like(output)
+        patched[:, channels] = kept[0][:, channels]

# %% eval_then_train
# misconception: switches to eval mode, and all of the model to training mode afterwards | hint: changes_mode
# edits: switches_to_eval
-        return model(corrupted)
+        answer = model(corrupted)
+    model.train()
+    return answer
