# nothing to break: Write `features(model, layers, x)`.

# %% asserts
# misconception: asserts, which raises another error, or none under -O | hint: speaks_other_error
# edits: closures_and_finally
-    if missing:
-        raise RuntimeError(f"these hooks never ran: {sorted(missing)}")
+    assert not missing, f"these hooks never ran: {sorted(missing)}"

# %% empty_is_fine
# misconception: returns what was heard, and says nothing of the rest | hint: speaks_if_all_silent
# breaks: If a layer's hook was never called, `features` raises a `RuntimeError`
# edits: asserts
-    missing = set(layers) - set(found)
-    assert not missing, f"these hooks never ran: {sorted(missing)}"

# %% only_if_nothing_was_heard
# misconception: one layer that was heard is enough | hint: speaks_if_all_silent | canary
# edits: empty_is_fine
+    if not found:
+        raise RuntimeError(f"no hook ran: {layers}")
     return found

# %% first_one_only
# misconception: names the first layer alone | hint: speaks_first_only
# breaks: its message names exactly these layers
# edits: empty_is_fine
+    for name in layers:
+        if name not in found:
+            raise RuntimeError(f"this hook never ran: {name}")
     return found

# %% key_error
# misconception: lets the dict complain | hint: speaks_other_error
# edits: empty_is_fine
-    return found
+    return {name: found[name] for name in layers}

# %% says_how_many
# misconception: says how many, not which | hint: speaks_no_names
# edits: closures_and_finally
-        raise RuntimeError(f"these hooks never ran: {sorted(missing)}")
+        raise RuntimeError(f"{len(missing)} hooks never ran")

# %% names_those_that_were_heard
# misconception: the error lists what was heard and what was asked for | hint: speaks_no_names
# breaks: exactly these layers
# edits: closures_and_finally
-        raise RuntimeError(f"these hooks never ran: {sorted(missing)}")
+        raise RuntimeError(f"heard {sorted(found)}, wanted {layers}")

# %% none_for_those_not_heard
# misconception: None stands for what was not heard | hint: speaks_if_all_silent
# edits: cloned_and_detached
-    silent = [name for name, output in found.items() if output is None]
-    if silent:
-        raise RuntimeError("no output of " + " and ".join(silent) + ": is the model compiled?")

# %% looks_for_names
# misconception: asks whether the model has such layers, not whether their hooks ran | hint: speaks_if_all_silent
# edits: closures_and_finally
-    missing = set(layers) - set(found)
+    missing = set(layers) - {name for name, _ in model.named_modules()}

# %% dict_as_default
# misconception: the dict of an earlier call is used again | hint: speaks_stale
# edits: closures_and_finally
-def features(model, layers, x):
-    found, handles = {}, []
+def features(model, layers, x, found={}):
+    handles = []

# %% zeros_are_silence
# misconception: takes an output of zeros for a hook that was not called | hint: speaks_zeros
# breaks: If a layer's hook was never called
# edits: cloned_and_detached
-    silent = [name for name, output in found.items() if output is None]
+    silent = [name for name, output in found.items() if output is None or not output.any()]

# %% unlisted_is_silent
# misconception: a name that named_modules() does not list is a layer that was not heard | hint: speaks_of_another
# edits: walks_over_the_model
-    for name, module in getattr(model, "_orig_mod", model).named_modules():
+    for name, module in model.named_modules():

# %% hook_returns_setdefault
# misconception: a lambda that returns the first output, which then replaces the second | hint: watcher_changes_output
# edits: closures_and_finally
-            found[name] = output
+            return found.setdefault(name, output)

# %% hooks_stay_after_its_error
# misconception: raises before the hooks are removed | hint: speaks_hooks_after_error
# breaks: Afterwards, even after an error, none of its hooks is left.
# edits: objects
-    with ExitStack() as stack:
-        for ear in ears:
-            stack.enter_context(model.get_submodule(ear.name).register_forward_hook(ear))
-        model(x)
-        deaf = [ear.name for ear in ears if not ear.heard]
-        if deaf:
-            raise RuntimeError(f"heard {len(ears) - len(deaf)} of {len(ears)} layers, not {deaf}")
+    handles = [model.get_submodule(ear.name).register_forward_hook(ear) for ear in ears]
+    model(x)
+    deaf = [ear.name for ear in ears if not ear.heard]
+    if deaf:
+        raise RuntimeError(f"heard {len(ears) - len(deaf)} of {len(ears)} layers, not {deaf}")
+    for handle in handles:
+        handle.remove()

# %% hides_the_error
# misconception: takes an error of the model for layers that were not heard | hint: feat_error_swallowed
# breaks: It does not catch an error of the model.
# edits: walks_over_the_model
+    except Exception:
+        pass
     finally:

# %% no_finally
# misconception: an error of the model leaves the hooks | hint: speaks_hooks_after_error
# edits: walks_over_the_model
-    try:
-        model(x)
-    finally:
-        for handle in handles:
-            handle.remove()
+    model(x)
+    for handle in handles:
+        handle.remove()

# %% registers_before_try
# misconception: registers before its try: a misspelt name leaves the hooks on the layers before it | hint: speaks_hooks_after_error
# edits: closures_and_finally
+    for name in layers:
+        handles.append(model.get_submodule(name).register_forward_hook(hook_for(name)))
     try:
@@
-        for name in layers:
-            handles.append(model.get_submodule(name).register_forward_hook(hook_for(name)))

# %% hooks_stay
# misconception: never removes its hooks | hint: speaks_hooks_stay
# edits: cloned_and_detached
-        [handle.remove() for handle in handles]
+        pass

# %% last_handle
# misconception: one name for all handles | hint: speaks_hooks_stay
# edits: closures_and_finally
-            handles.append(model.get_submodule(name).register_forward_hook(hook_for(name)))
+            handle = model.get_submodule(name).register_forward_hook(hook_for(name))
@@
-        for handle in handles:
-            handle.remove()
+        handle.remove()

# %% late_binding
# misconception: the hook reads the loop's variable | hint: loop_variable
# edits: walks_over_the_model
-            def keep(module, args, output, name=name):
+            def keep(module, args, output):

# %% children_only
# misconception: looks at the first level | hint: speaks_first_level
# edits: walks_over_the_model
-    for name, module in getattr(model, "_orig_mod", model).named_modules():
+    for name, module in model.named_children():

# %% once_for_each_layer
# misconception: a run of the model for each layer | hint: speaks_runs_often
# breaks: It calls `model(x)` once
# edits: closures_and_finally
-        model(x)
+            model(x)

# %% once_more_if_silent
# misconception: has it compiled again, and calls it a second time | hint: speaks_runs_often
# edits: objects
+        if not all(ear.heard for ear in ears):
+            torch._dynamo.reset()
+            model(x)
         deaf = [ear.name for ear in ears if not ear.heard]

# %% asks_the_original
# misconception: goes round the compiled model, to the one that it was made of | hint: speaks_of_another
# edits: objects
+    model = getattr(model, "_orig_mod", model)
     with ExitStack() as stack:

# %% names_of_named_modules
# misconception: finds no layer of a compiled model, whose names begin with `_orig_mod`, and misses none | hint: speaks_of_another
# edits: unlisted_is_silent
-    try:
-        return {name: found[name] for name in layers}
-    except KeyError:
-        silent = ", ".join(name for name in layers if name not in found)
-        raise RuntimeError("not heard: " + silent) from None
+    if len(found) < len(handles):
+        raise RuntimeError("not heard: " + ", ".join(set(layers) - set(found)))
+    return found

# %% inputs
# misconception: a pre-hook, which gets what goes in | hint: input_or_output
# edits: cloned_and_detached
-    def hook(module, args, output):
-        found[names[module]] = output.detach().clone()
+    def hook(module, args):
+        found[names[module]] = args
@@
-    handles = [module.register_forward_hook(hook) for module in names]
+    handles = [module.register_forward_pre_hook(hook) for module in names]

# %% every_layer
# misconception: keeps the output of each linear layer | hint: all_layers
# edits: walks_over_the_model
-        if name in layers:
+        if isinstance(module, nn.Linear):
@@
-        return {name: found[name] for name in layers}
+        [found[name] for name in layers]
+        return found

# %% output_of_the_model
# misconception: returns what the model returns | hint: output_for_features
# edits: closures_and_finally
-        model(x)
+        output = model(x)
@@
-    return found
+    return output

# %% list_of_outputs
# misconception: a list of outputs, without names | hint: speaks_list
# edits: objects
-    return {ear.name: ear.heard[-1] for ear in ears}
+    return [ear.heard[-1] for ear in ears]

# %% last_part_of_the_name
# misconception: keys without their path | hint: speaks_short_names
# edits: objects
-    return {ear.name: ear.heard[-1] for ear in ears}
+    return {ear.name.split(".")[-1]: ear.heard[-1] for ear in ears}
