# nothing to break: Checkpoints outlive names.
# nothing to break: A layer was called `linear` when somebody saved the model; today it is called `fc`.
# nothing to break: You need not bring those to the new name.
# nothing to break: For example: `accept_old_name(head, "linear", "fc")`

# %% alias
# misconception: adds the child under its old name as well | hint: old_name_renames_module
def accept_old_name(module, old, new):
    setattr(module, old, getattr(module, new))

# %% any_part
# misconception: renames any part between dots | hint: old_name_anywhere
# breaks: What other modules call `old` is none of its business
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            inner = key[len(prefix) :].split(".")
            if old in inner:
                renamed = [new if part == old else part for part in inner]
                state_dict[prefix + ".".join(renamed)] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% changes_while_looping
# misconception: changes the dict it loops over | hint: old_name_dict_in_loop
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in state_dict:
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% children_only
# misconception: knows children, not parameters | hint: old_name_one_kind
# breaks: or one of its own parameters
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if key.startswith(prefix + old + "."):
                state_dict[prefix + new + "." + key[len(prefix + old) + 1 :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% drops_the_old_key
# misconception: only drops the old key | hint: old_name_only_dropped
# breaks: what is saved there for the module's `old` goes into its `new`
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                del state_dict[key]

    module.register_load_state_dict_pre_hook(rename)

# %% fills_what_is_missing
# misconception: fills what is missing with the module's own tensors | hint: old_name_hides_errors
# edits: drops_the_old_key
-                del state_dict[key]
+                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)
+        for key, value in module.state_dict().items():
+            state_dict.setdefault(prefix + key, value)

# %% keeps_the_old_key
# misconception: adds the new key and leaves the old one | hint: old_name_kept_as_well
# edits: drops_the_old_key
-                del state_dict[key]
+                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict[key]

# %% no_dot
# misconception: a condition that linear2 fulfils too | hint: old_name_anywhere
# breaks: names that only look alike, such as `linear2`
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if key.startswith(prefix + old):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% no_prefix
# misconception: compares with the old name alone | hint: old_name_no_prefix
# breaks: `module` may stand anywhere in a model, under any name
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if key == old or key.startswith(old + "."):
                state_dict[new + key[len(old) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% not_registered
# misconception: makes the hook and does not register it | hint: old_name_not_started
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    return rename

# %% one_level
# misconception: takes the first and the last part of the key | hint: old_name_one_kind
# breaks: with all that is inside it
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            parts = key[len(prefix) :].split(".")
            if parts[0] == old:
                state_dict[prefix + new + "." + parts[-1]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% overrides_load
# misconception: replaces load_state_dict of the module, which a model around it never calls | hint: old_name_no_prefix
# breaks: or any model around it loads a checkpoint
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

# %% prefix_lost
# misconception: finds the key with the prefix, and writes it without | hint: old_name_no_prefix
# edits: drops_the_old_key
-                del state_dict[key]
+                state_dict[new + key[len(prefix + old) :]] = state_dict.pop(key)

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

# %% replace
# misconception: replaces the old name wherever it stands in the key | hint: old_name_anywhere
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if old + "." in key or key.endswith(old):
                state_dict[key.replace(old, new)] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% replace_in_all
# misconception: replaces the letters in every key | hint: old_name_anywhere
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            state_dict[key.replace(old, new)] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

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

# %% saves_the_old_name
# misconception: gives saved checkpoints the old name as well | hint: old_name_renames_module
# breaks: what `state_dict()` saves has the new names
def accept_old_name(module, old, new):
    def on_load(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    def on_save(module, state_dict, prefix, local_metadata):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + new + "."):
                state_dict[prefix + old + key[len(prefix + new) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(on_load)
    module.register_state_dict_post_hook(on_save)

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
# breaks: Whatever else is missing in a checkpoint, is too much or does not fit, is still reported.
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        known = {prefix + key for key in module.state_dict()}
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)
        for key in list(state_dict):
            if key not in known:
                del state_dict[key]

    module.register_load_state_dict_pre_hook(rename)

# %% too_few_arguments
# misconception: a hook of three arguments | hint: old_name_hook_arguments
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% typed_in_names
# misconception: the names of the example, typed in | hint: old_name_one_kind
# edits: replace_in_all
-            state_dict[key.replace(old, new)] = state_dict.pop(key)
+            if key.startswith(prefix + "linear."):
+                state_dict[prefix + "fc." + key[len(prefix) + 7 :]] = state_dict.pop(key)

# %% uses_the_notebook
# misconception: registers on the notebook's module | hint: function_uses_global
head = nn.Linear(3, 2)


def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    head.register_load_state_dict_pre_hook(rename)

# %% weight_and_bias
# misconception: knows weight and bias of a Linear only | hint: old_name_one_kind
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for name in ("weight", "bias"):
            if f"{prefix}{old}.{name}" in state_dict:
                state_dict[f"{prefix}{new}.{name}"] = state_dict.pop(f"{prefix}{old}.{name}")

    module.register_load_state_dict_pre_hook(rename)

# %% without_module
# misconception: a hook without the module, so that all arguments are off by one | hint: old_name_hook_arguments
# edits: too_few_arguments
-    def rename(module, state_dict, prefix):
+    def rename(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):

# %% wrong_way_round
# misconception: renames new to old | hint: old_name_without_effect
# edits: replace_in_all
-            state_dict[key.replace(old, new)] = state_dict.pop(key)
+            if (key + ".").startswith(prefix + new + "."):
+                state_dict[prefix + old + key[len(prefix + new) :]] = state_dict.pop(key)

# %% first_place_only
# misconception: remembers the first prefix, though the module stands at two places | hint: old_name_one_place
# breaks: and even at two places
def accept_old_name(module, old, new):
    places = []

    def rename(module, state_dict, prefix, *rest):
        if not places:
            places.append(prefix)
        (prefix,) = places
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% edits_the_checkpoint
# misconception: renames in the caller's own checkpoint | hint: old_name_edits_checkpoint
# breaks: The caller's checkpoint stays as it is
def accept_old_name(module, old, new):
    load = module.load_state_dict

    def renaming_load(state_dict, *args, **kwargs):
        for key in list(state_dict):
            if (key + ".").startswith(old + "."):
                state_dict[new + key[len(old) :]] = state_dict.pop(key)
        return load(state_dict, *args, **kwargs)

    module.load_state_dict = renaming_load

# %% found_anywhere
# misconception: looks for prefix and name anywhere in the key, not at its beginning | hint: old_name_anywhere
import re


def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        pattern = re.compile(rf"{re.escape(prefix + old)}\b")
        for key in list(state_dict):
            if pattern.search(key):
                state_dict[pattern.sub(prefix + new, key)] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% replaces_every_time
# misconception: str.replace, which at the root also meets the old name in the middle of a key | hint: old_name_anywhere
def accept_old_name(module, old, new):
    def hook(module, state_dict, prefix, *rest):
        was, now = prefix + old, prefix + new
        for key in list(state_dict):
            if (key + '.').startswith(was + '.'):
                state_dict[(key + '.').replace(was + '.', now + '.')[:-1]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(hook)

# %% fills_up
# misconception: fills up what is missing with the current values | hint: old_name_hides_errors
def accept_old_name(module, old, new):
    def hook(module, state_dict, prefix, *rest):
        was, now = prefix + old, prefix + new
        for key in list(state_dict):
            if key == was or key.startswith(was + "."):
                state_dict[now + key[len(was):]] = state_dict.pop(key)
        for name, tensor in module.state_dict().items():
            if name == new or name.startswith(new + "."):
                state_dict.setdefault(prefix + name, tensor)

    module.register_load_state_dict_pre_hook(hook)

# %% moves_the_versions
# misconception: moves the versions in _metadata, which is the caller's own | hint: old_name_edits_checkpoint
# breaks: and its `_metadata`
def accept_old_name(module, old, new):
    def hook(module, state_dict, prefix, *rest):
        was, now = prefix + old, prefix + new
        for key in list(state_dict):
            if key == was or key.startswith(was + "."):
                state_dict[now + key[len(was):]] = state_dict.pop(key)
        metadata = getattr(state_dict, "_metadata", None)
        if metadata is not None:
            for key in list(metadata):
                if key == was or key.startswith(was + "."):
                    metadata[now + key[len(was):]] = metadata.pop(key)

    module.register_load_state_dict_pre_hook(hook)

# %% tensor_becomes_the_parameter
# misconception: a tensor of the checkpoint becomes the parameter itself, and training writes into it | hint: old_name_edits_checkpoint
# breaks: with its tensors
def accept_old_name(module, old, new):
    def hook(module, state_dict, prefix, *rest):
        was, now = prefix + old, prefix + new
        for key in list(state_dict):
            if key == was or key.startswith(was + "."):
                value = state_dict.pop(key)
                path = new + key[len(was):]
                owner, _, leaf = path.rpartition(".")
                try:
                    target = getattr(module.get_submodule(owner), leaf)
                    if target.shape == value.shape:
                        target.data = value.data
                except AttributeError:
                    pass
                state_dict[now + key[len(was):]] = value

    module.register_load_state_dict_pre_hook(hook)

# %% keeps_its_own_where_shapes_differ
# misconception: keeps today's value in silence where the shape does not fit | hint: old_name_hides_errors
# breaks: or does not fit
def accept_old_name(module, old, new):
    def hook(module, state_dict, prefix, *rest):
        was, now = prefix + old, prefix + new
        for key in list(state_dict):
            if key == was or key.startswith(was + "."):
                value = state_dict.pop(key)
                mine = module.state_dict().get(new + key[len(was):])
                state_dict[now + key[len(was):]] = value if mine is None or mine.shape == value.shape else mine

    module.register_load_state_dict_pre_hook(hook)

# %% looks_like_a_new_one
# misconception: takes a name that begins with the new one for a new checkpoint | hint: old_name_anywhere
def accept_old_name(module, old, new):
    def hook(module, state_dict, prefix, local_metadata, strict, *rest):
        was, now = prefix + old, prefix + new
        if any(key.startswith(now) for key in state_dict):
            return
        for key in list(state_dict):
            if key == was or key.startswith(was + "."):
                state_dict[now + key[len(was) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(hook)

# %% clears_load_hooks
# misconception: clears the load hooks that are already there, so that the cell can run again | hint: removes_other_hooks
# breaks: Load hooks of others stay.
def accept_old_name(module, old, new):
    def hook(module, state_dict, prefix, local_metadata, strict, *rest):
        was, now = prefix + old, prefix + new
        for key in list(state_dict):
            if key == was or key.startswith(was + "."):
                state_dict[now + key[len(was) :]] = state_dict.pop(key)

    for number, other in list(module._load_state_dict_pre_hooks.items()):
        if "accept_old_name" not in str(other.hook):
            del module._load_state_dict_pre_hooks[number]
    module.register_load_state_dict_pre_hook(hook)

# %% word_boundary
# misconception: an escaped pattern, in which the name ends at any sign that is no letter | hint: old_name_anywhere
# breaks: neither are names that only look alike
import re


def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if match := re.match(rf"{re.escape(prefix + old)}\b", key):
                state_dict[prefix + new + key[match.end():]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% reshapes_what_does_not_fit
# misconception: bends a tensor of another shape into the one of today | hint: old_name_hides_errors
# breaks: does not fit, is still reported
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        today = module.state_dict()
        for key in list(state_dict):
            if key == prefix + old or key.startswith(prefix + old + "."):
                own = new + key[len(prefix + old):]
                value = state_dict.pop(key)
                if own in today and value.numel() == today[own].numel():
                    value = value.reshape(today[own].shape)
                state_dict[prefix + own] = value

    module.register_load_state_dict_pre_hook(rename)
