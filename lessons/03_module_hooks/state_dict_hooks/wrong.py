# nothing to break: A layer was called `linear` when somebody saved the model
# nothing to break: Write `accept_old_name(module, old, new)`.

# %% alias
# misconception: adds the child under its old name as well | hint: old_name_renames_module
def accept_old_name(module, old, new):
    setattr(module, old, getattr(module, new))

# %% changes_while_looping
# misconception: changes the dict it loops over | hint: old_name_dict_in_loop
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in state_dict:
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% clears_the_lists
# misconception: empties the three lists, in which others have written | hint: old_name_hides_errors
# edits: reference
                 state_dict[prefix + new + key.removeprefix(prefix + old)] = state_dict.pop(key)
+        [complaints.clear() for complaints in the_rest[-3:]]

# %% no_dot
# misconception: a condition that linear2 fulfils too | hint: old_name_anywhere
# breaks: Names that are only similar, such as `linear2`, do not change.
# edits: changes_while_looping
-        for key in state_dict:
-            if (key + ".").startswith(prefix + old + "."):
+        for key in list(state_dict):
+            if key.startswith(prefix + old):

# %% not_registered
# misconception: makes the hook and does not register it | hint: old_name_not_started | canary
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    return rename

# %% overrides_load
# misconception: replaces load_state_dict of the module, which a model around it never calls | hint: old_name_no_prefix
def accept_old_name(module, old, new):
    load = module.load_state_dict

    def renaming_load(state_dict, *args, **kwargs):
        renamed = {
            new + key[len(old) :] if (key + ".").startswith(old + ".") else key: value
            for key, value in state_dict.items()
        }
        return load(renamed, *args, **kwargs)

    module.load_state_dict = renaming_load

# %% pops_without_looking
# misconception: expects weight and bias under the old name | hint: old_name_taken_for_granted
# breaks: New checkpoints load as before
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for name, _ in getattr(module, new).named_parameters():
            state_dict[f"{prefix}{new}.{name}"] = state_dict.pop(f"{prefix}{old}.{name}")

    module.register_load_state_dict_pre_hook(rename)

# %% post_hook
# misconception: a post-hook, which gets no tensors | hint: old_name_too_late
def accept_old_name(module, old, new):
    def rename(module, incompatible_keys):
        for key in list(incompatible_keys):
            if key.startswith(old + "."):
                incompatible_keys[new + key[len(old) :]] = incompatible_keys.pop(key)

    module.register_load_state_dict_post_hook(rename)

# %% rebinds_the_dict
# misconception: gives the local name a new dict | hint: old_name_without_effect
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        state_dict = {
            prefix + new + key[len(prefix + old) :] if (key + ".").startswith(prefix + old + ".") else key: value
            for key, value in state_dict.items()
        }

    module.register_load_state_dict_pre_hook(rename)

# %% registers_on_the_child
# misconception: registers on the child, whose keys are filtered already | hint: old_name_not_started
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if key.startswith(old + "."):
                state_dict[new + key[len(old) :]] = state_dict.pop(key)

    getattr(module, new).register_load_state_dict_pre_hook(rename)

# %% renames_the_child
# misconception: gives the child its old name back | hint: old_name_renames_module
def accept_old_name(module, old, new):
    child = getattr(module, new)
    delattr(module, new)
    setattr(module, old, child)

# %% replace_in_all
# misconception: replaces the letters in every key | hint: old_name_anywhere
# edits: no_dot
-            if key.startswith(prefix + old):
-                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)
+            state_dict[key.replace(old, new)] = state_dict.pop(key)

# %% any_part
# misconception: renames any part between dots | hint: old_name_anywhere
# edits: replace_in_all
-            state_dict[key.replace(old, new)] = state_dict.pop(key)
+            inner = key[len(prefix) :].split(".")
+            if old in inner:
+                renamed = [new if part == old else part for part in inner]
+                state_dict[prefix + ".".join(renamed)] = state_dict.pop(key)

# %% children_only
# misconception: knows children, not parameters | hint: old_name_one_kind
# breaks: child or parameter
# edits: replace_in_all
-            state_dict[key.replace(old, new)] = state_dict.pop(key)
+            if key.startswith(prefix + old + "."):
+                state_dict[prefix + new + "." + key[len(prefix + old) + 1 :]] = state_dict.pop(key)

# %% drops_the_old_key
# misconception: only drops the old key | hint: old_name_only_dropped
# edits: replace_in_all
-            state_dict[key.replace(old, new)] = state_dict.pop(key)
+            if (key + ".").startswith(prefix + old + "."):
+                del state_dict[key]

# %% keeps_the_old_key
# misconception: adds the new key and leaves the old one | hint: old_name_kept_as_well
# edits: drops_the_old_key
-                del state_dict[key]
+                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict[key]

# %% no_prefix
# misconception: compares with the old name alone | hint: old_name_no_prefix
# breaks: how `module`, alone or inside a model, loads a checkpoint
# edits: replace_in_all
-            state_dict[key.replace(old, new)] = state_dict.pop(key)
+            if key == old or key.startswith(old + "."):
+                state_dict[new + key[len(old) :]] = state_dict.pop(key)

# %% prefix_lost
# misconception: finds the key with the prefix, and writes it without | hint: old_name_no_prefix
# edits: drops_the_old_key
-                del state_dict[key]
+                state_dict[new + key[len(prefix + old) :]] = state_dict.pop(key)

# %% replace
# misconception: replaces the old name wherever it stands in the key | hint: old_name_anywhere
# edits: replace_in_all
-            state_dict[key.replace(old, new)] = state_dict.pop(key)
+            if old + "." in key or key.endswith(old):
+                state_dict[key.replace(old, new)] = state_dict.pop(key)

# %% returns_a_new_dict
# misconception: returns a new dict | hint: old_name_without_effect
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        renamed = {}
        for key, value in state_dict.items():
            if (key + ".").startswith(prefix + old + "."):
                key = prefix + new + key[len(prefix + old) :]
            renamed[key] = value
        return renamed

    module.register_load_state_dict_pre_hook(rename)

# %% saving_hook
# misconception: renames when saving | hint: old_name_not_started
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, local_metadata):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    module.register_state_dict_post_hook(rename)

# %% silences_the_complaints
# misconception: a post-hook that empties the lists of complaints | hint: old_name_not_loaded
def accept_old_name(module, old, new):
    def silence(module, incompatible_keys):
        incompatible_keys.missing_keys.clear()
        incompatible_keys.unexpected_keys.clear()

    module.register_load_state_dict_post_hook(silence)

# %% strict_false
# misconception: makes loading never strict | hint: old_name_not_loaded
def accept_old_name(module, old, new):
    module.load_state_dict = partial(nn.Module.load_state_dict, module, strict=False)

# %% throws_strangers_away
# misconception: throws away what it does not know | hint: old_name_hides_errors
# breaks: missing or unexpected
# edits: drops_the_old_key
+        known = {prefix + key for key in module.state_dict()}
         for key in list(state_dict):
             if (key + ".").startswith(prefix + old + "."):
+                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)
+        for key in list(state_dict):
+            if key not in known:

# %% too_few_arguments
# misconception: a hook of three arguments | hint: old_name_hook_arguments
# edits: changes_while_looping
-    def rename(module, state_dict, prefix, *rest):
-        for key in state_dict:
+    def rename(module, state_dict, prefix):
+        for key in list(state_dict):

# %% typed_in_names
# misconception: the names of the example, typed in | hint: old_name_one_kind
# edits: replace_in_all
-            state_dict[key.replace(old, new)] = state_dict.pop(key)
+            if key.startswith(prefix + "linear."):
+                state_dict[prefix + "fc." + key[len(prefix) + 7 :]] = state_dict.pop(key)

# %% weight_and_bias
# misconception: knows weight and bias of a Linear only | hint: old_name_one_kind
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for name in ("weight", "bias"):
            if f"{prefix}{old}.{name}" in state_dict:
                state_dict[f"{prefix}{new}.{name}"] = state_dict.pop(f"{prefix}{old}.{name}")

    module.register_load_state_dict_pre_hook(rename)

# %% wrong_way_round
# misconception: renames new to old | hint: old_name_without_effect
# edits: replace_in_all
-            state_dict[key.replace(old, new)] = state_dict.pop(key)
+            if (key + ".").startswith(prefix + new + "."):
+                state_dict[prefix + old + key[len(prefix + new) :]] = state_dict.pop(key)
