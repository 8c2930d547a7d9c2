# nothing to break: Write `patch_activation(model, layer, clean, corrupted, channels=None)`.
# nothing to break: In the tests both inputs have the same shape
# nothing to break: the reference solution raises an error that says so
# nothing to break: No check asks that of yours, nor what is left after an error.
# nothing to break: How often the model runs, and whether both inputs go through it in one batch, is up to you.

# %% alias
# misconception: keeps the clean output itself | hint: feat_alias
# breaks: keeps the output of `layer` (a dotted name), as it was
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []

    def patch(m, a, output):
        if channels is None:
            return kept[0]
        patched = output.clone()
        patched[:, channels] = kept[0][:, channels]
        return patched

    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach())):
        model(clean)
    with module.register_forward_hook(patch):
        return model(corrupted)


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")

# %% channels_ignored
# misconception: patches the whole layer always | hint: feat_channels_ignored
# breaks: only these channels
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []
    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):
        model(clean)
    with module.register_forward_hook(lambda m, a, o: kept[0]):
        return model(corrupted)


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")

# %% clean_answer
# misconception: returns the answer to the clean input | hint: feat_returns_clean
# edits: channels_ignored
-        model(clean)
+        answer = model(clean)
@@
-        return model(corrupted)
+        model(corrupted)
+    return answer

# %% clears_all_hooks
# misconception: empties the layer's dict of hooks | hint: removes_other_hooks
# breaks: other people's are still there
# edits: alias
-    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach())):
-        model(clean)
-    with module.register_forward_hook(patch):
-        return model(corrupted)
+    module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone()))
+    model(clean)
+    module._forward_hooks.clear()
+    module.register_forward_hook(patch)
+    answer = model(corrupted)
+    module._forward_hooks.clear()
+    return answer

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

# %% first_dimension
# misconception: takes the first dimension for the channels | hint: feat_channel_dimension
# edits: alias
-        patched[:, channels] = kept[0][:, channels]
+        patched[channels] = kept[0][channels]
@@
-    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach())):
+    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):

# %% first_hook_stays
# misconception: leaves the first hook there | hint: feat_hook_left
# edits: alias
-    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach())):
-        model(clean)
-    with module.register_forward_hook(patch):
-        return model(corrupted)
+    handle = module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone()))
+    model(clean)
+    handle = module.register_forward_hook(patch)
+    answer = model(corrupted)
+    handle.remove()
+    return answer

# %% kept_for_good
# misconception: keeps the first clean output for good | hint: stale_result
kept = {}


def patch_activation(model, layer, clean, corrupted, channels=None):
    module = model.get_submodule(layer)

    def patch(m, a, output):
        if channels is None:
            return kept[m]
        patched = output.clone()
        patched[:, channels] = kept[m][:, channels]
        return patched

    if module not in kept:
        with module.register_forward_hook(lambda m, a, o: kept.update({m: o.detach().clone()})):
            model(clean)
    with module.register_forward_hook(patch):
        return model(corrupted)


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")

# %% lambda_returns_a_tuple
# misconception: a lambda that returns a tuple replaces the output | hint: hook_replaces_output
# edits: alias
-    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach())):
+    with module.register_forward_hook(lambda m, a, o: (kept.append(o.detach().clone()), None)):

# %% last_dimension
# misconception: takes the last dimension for the channels | hint: feat_channel_dimension
# breaks: (dimension 1 of the output)
# edits: first_dimension
-        patched[channels] = kept[0][channels]
+        patched[..., channels] = kept[0][..., channels]

# %% name_moved
# misconception: gives the name another value in the hook | hint: feat_patch_never_ran
# edits: first_dimension
-            return kept[0]
-        patched = output.clone()
-        patched[channels] = kept[0][channels]
-        return patched
+            output = kept[0]
+        else:
+            output = output.clone()
+            output[:, channels] = kept[0][:, channels]

# %% nothing_returned
# misconception: returns nothing | hint: returns_nothing
# edits: alias
-    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach())):
+    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):
@@
-        return model(corrupted)
+        model(corrupted)

# %% other_channels
# misconception: patches all channels but those named | hint: feat_channels_inverted
# edits: first_dimension
-        patched = output.clone()
-        patched[channels] = kept[0][channels]
+        patched = kept[0].clone()
+        patched[:, channels] = output[:, channels]

# %% patch_stays
# misconception: leaves the patch there | hint: feat_hook_left
# breaks: Afterwards your hooks are gone
# edits: alias
-    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach())):
-        model(clean)
-    with module.register_forward_hook(patch):
-        return model(corrupted)
+    handle = module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone()))
+    model(clean)
+    handle.remove()
+    handle = module.register_forward_hook(patch)
+    return model(corrupted)

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


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")

# %% removed_too_early
# misconception: removes the hook before the second run | hint: feat_patch_never_ran
# edits: channels_ignored
-    with module.register_forward_hook(lambda m, a, o: kept[0]):
-        return model(corrupted)
+    handle = module.register_forward_hook(lambda m, a, o: kept[0])
+    handle.remove()
+    return model(corrupted)

# %% returns_the_feature
# misconception: returns the activation | hint: feat_returns_feature
# breaks: returns what the model puts out in this run
# edits: channels_ignored
-        return model(corrupted)
+        model(corrupted)
+    return kept[0]

# %% roles_swapped
# misconception: patches the clean run | hint: feat_roles_swapped
# breaks: It runs `model` on `corrupted`, with that layer's output replaced by the kept one
# edits: nothing_returned
-        model(clean)
+        model(corrupted)
@@
-        model(corrupted)
+        return model(clean)

# %% writes_in_place
# misconception: writes into the layer's output | hint: feat_writes_into_input
# breaks: `clean` and `corrupted` hold the numbers that they held
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


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")

# %% zeros_elsewhere
# misconception: begins with zeros | hint: feat_zero_elsewhere
# breaks: The others stay as the corrupted run made them.
# edits: first_dimension
-        patched = output.clone()
-        patched[channels] = kept[0][channels]
+        patched = torch.zeros_like(output)
+        patched[:, channels] = kept[0][:, channels]

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

# %% first_layer_that_begins_so
# misconception: takes the last layer whose name begins like the one asked for | hint: name_in_name
# edits: picture_channels
-    module, kept = model.get_submodule(layer), []
+    modules, kept = dict(model.named_modules()), []
+    module = modules[[name for name in modules if name.startswith(layer) and "." not in name[len(layer):]][-1]]
@@
-        patched[:, channels, :, :] = kept[0][:, channels, :, :]
+        patched[:, channels] = kept[0][:, channels]

# %% last_channel_only
# misconception: patches one channel of the list, the last one | hint: feat_last_channel
# edits: picture_channels
-        patched[:, channels, :, :] = kept[0][:, channels, :, :]
+        for channel in channels:
+            patched = output.clone()
+            patched[:, channel] = kept[0][:, channel]

# %% switches_to_eval
# misconception: switches to eval mode, and leaves it so | hint: changes_mode
# breaks: every module is in the mode that it was in
# edits: first_layer_that_begins_so
-    modules, kept = dict(model.named_modules()), []
-    module = modules[[name for name in modules if name.startswith(layer) and "." not in name[len(layer):]][-1]]
+    model.eval()
+    module, kept = model.get_submodule(layer), []

# %% one_mode_put_back
# misconception: puts the model's own mode back, for all modules | hint: feat_one_mode_for_all
# breaks: every module is in the mode that it was in
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept, training = model.get_submodule(layer), [], model.training

    def patch(module, args, output):
        if channels is None:
            return kept[0]
        patched = output.clone()
        patched[:, channels] = kept[0][:, channels]
        return patched

    model.eval()
    try:
        with module.register_forward_hook(lambda module, args, output: kept.append(output.detach().clone())):
            model(clean)
        with module.register_forward_hook(patch):
            return model(corrupted)
    finally:
        model.train(training)

# %% calls_forward
# misconception: calls the model's forward, past the hooks on the model itself | hint: feat_forward_called
# breaks: It runs `model` on `corrupted`
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), {}
    with module.register_forward_hook(lambda m, a, o: kept.update(it=o.clone())):
        model.forward(clean.clone())

    def put(m, a, output):
        mixed = output.clone()
        chosen = slice(None) if channels is None else channels
        mixed[:, chosen] = kept["it"][:, chosen]
        return mixed

    with module.register_forward_hook(put):
        return model.forward(corrupted.clone())

# %% blends_by_products
# misconception: blends the two outputs by products with a mask | hint: feat_blends
# breaks: only these channels (dimension 1 of the output) are replaced
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), {}
    with module.register_forward_hook(lambda m, a, o: kept.update(it=o.clone())):
        model(clean.clone())

    def put(m, a, output):
        mask = torch.zeros(output.shape[1], dtype=output.dtype)
        mask[list(range(output.shape[1])) if channels is None else channels] = 1
        mask = mask.view(1, -1, *[1] * (output.dim() - 2))
        return mask * kept["it"] + (1 - mask) * output

    with module.register_forward_hook(put):
        return model(corrupted.clone())

# %% remembers_clean_runs
# misconception: remembers the clean run of an earlier call | hint: stale_result
# breaks: It runs `model` on `clean` and keeps the output
_clean_runs = {}


def patch_activation(model, layer, clean, corrupted, channels=None):
    module, key = model.get_submodule(layer), (model, layer, clean)
    if key not in _clean_runs:
        with module.register_forward_hook(lambda m, a, o: _clean_runs.update({key: o.clone()})):
            model(clean.clone())
    kept = _clean_runs[key]

    def put(m, a, output):
        if channels is None:
            return kept.clone()
        mixed = output.clone()
        mixed[:, channels] = kept[:, channels]
        return mixed

    with module.register_forward_hook(put):
        return model(corrupted.clone())

# %% writes_into_the_output
# misconception: writes into the output, which may be the layer's input | hint: feat_changes_around
# breaks: with that layer's output replaced by the kept one
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), {}
    with module.register_forward_hook(lambda m, a, o: kept.update(it=o.clone())):
        model(clean.clone())

    def put(m, a, output):
        chosen = slice(None) if channels is None else channels
        with torch.no_grad():
            output[:, chosen] = kept["it"][:, chosen]

    with module.register_forward_hook(put):
        return model(corrupted.clone())

# %% keeps_float32
# misconception: keeps the clean output in fewer digits | hint: feat_digits_lost
# breaks: keeps the output of `layer` (a dotted name), as it was
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), {}
    with module.register_forward_hook(lambda m, a, o: kept.update(it=o.detach().cpu().float().clone())):
        model(clean.clone())

    def put(m, a, output):
        mixed = output.clone()
        chosen = slice(None) if channels is None else channels
        mixed[:, chosen] = kept["it"][:, chosen].to(output)
        return mixed

    with module.register_forward_hook(put):
        return model(corrupted.clone())

# %% to_the_device_of_the_first_parameter
# misconception: asks the model's first parameter for its device | hint: feat_first_parameter
# breaks: It runs `model` on `clean`
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []

    def put(m, a, output):
        output = output.clone()
        index = slice(None) if channels is None else channels
        output[:, index] = kept[0][:, index]
        return output

    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):
        model(clean.to(next(model.parameters()).device))
    with module.register_forward_hook(put):
        return model(corrupted.to(next(model.parameters()).device))

# %% the_first_channels
# misconception: counts the channels on the list and replaces the first ones | hint: feat_counted_channels
# breaks: only these channels (dimension 1 of the output) are replaced
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []

    def put(m, a, output):
        output = output.clone()
        index = slice(None) if channels is None else slice(len(channels))
        output[:, index] = kept[0][:, index]
        return output

    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):
        model(clean)
    with module.register_forward_hook(put):
        return model(corrupted)

# %% adds_it
# misconception: adds the kept output | hint: feat_adds
# breaks: with that layer's output replaced by the kept one
# edits: the_first_channels
-        index = slice(None) if channels is None else slice(len(channels))
-        output[:, index] = kept[0][:, index]
+        index = slice(None) if channels is None else channels
+        output[:, index] += kept[0][:, index]
