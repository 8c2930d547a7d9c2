# %% alias
# misconception: keeps the output itself | hint: feat_alias
# breaks: even if a later step overwrites it
def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found = []
    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach())):
        model(x)
    return found[0]

# %% all_steps_at_once
# misconception: asks the extractor for all steps, and picks one | hint: feat_alias
# edits: reference
-            return create_feature_extractor(model, [step])(x)[step]
+            return create_feature_extractor(model, get_graph_node_names(model)[1])(x)[step]

# %% fx_only
# misconception: torchvision's extractor for everything | hint: feat_cannot_be_traced
# breaks: also one like `Picky`
def value_at(model, step, x):
    return create_feature_extractor(model, [step])(x)[step]

# %% hook_stays
# misconception: leaves the hook there | hint: feat_hook_left
# breaks: No hook of yours stays
# edits: alias
-    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach())):
-        model(x)
+    model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone()))
+    model(x)

# %% hooks_on_all_modules
# misconception: looks the step up among the modules' outputs | hint: feat_fx_own_names
def value_at(model, step, x):
    found = {}

    def keep(name, module, args, output):
        found.setdefault(name, output.detach().clone())

    run_with(model, {name: partial(keep, name) for name, _ in model.named_modules()}, x)
    return found[step]

# %% hooks_only
# misconception: hooks for everything | hint: feat_no_module_behind
# breaks: Otherwise `step` is a name in both lists of `get_graph_node_names`
def value_at(model, step, x):
    found = []
    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
        model(x)
    return found[0]

# %% dict_returned
# misconception: returns the extractor's dict | hint: feat_dict_for_value
# breaks: returns the value that one step computed
# edits: hooks_only
+    if step not in dict(model.named_modules()):
+        return create_feature_extractor(model, [step])(x)
     found = []

# %% last_call
# misconception: keeps the last call of a module | hint: feat_last_call
# breaks: the value is this module's **first** output
# edits: reference
-    return outputs[0]
+    return outputs[-1]

# %% number_is_a_call
# misconception: takes every number for a call of a module | hint: feat_call_number
import re


def value_at(model, step, x):
    match = re.fullmatch(r"(.+)_(\d+)", step)
    name, number = (match[1], int(match[2])) if match else (step, 0)
    if name not in dict(model.named_modules()) and not match:
        return create_feature_extractor(model, [step])(x)[step]
    found = []
    with model.get_submodule(name).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
        model(x)
    return found[number]

# %% returns_output
# misconception: returns the model's output | hint: output_for_features
# edits: alias
-        model(x)
+        return model(x)

# %% suffix_cut_off
# misconception: cuts the number of the call off | hint: feat_suffix
import re


def value_at(model, step, x):
    step = re.sub(r"_\d+$", "", step)
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found = []
    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
        model(x)
    return found[0]

# %% trains
# misconception: switches the model to training mode | hint: changes_mode
# edits: hooks_only
+    model.train()
+    if step not in dict(model.named_modules()):
+        return create_feature_extractor(model, [step])(x)[step]
     found = []

# %% traces_first_and_stays_in_training
# misconception: tries to trace first; a trace that fails leaves the model in training mode | hint: feat_left_in_training
# breaks: the model stays in eval mode
def value_at(model, step, x):
    try:
        return create_feature_extractor(model, [step])(x)[step].clone()
    except Exception:
        pass
    found = []
    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.clone())):
        model(x)
    return found[0]

# %% clears_all_hooks
# misconception: empties the dict of hooks, other people's too | hint: removes_other_hooks
def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found, module = [], model.get_submodule(step)
    module.register_forward_hook(lambda m, a, o: found.append(o.detach().clone()))
    model(x)
    module._forward_hooks.clear()
    return found[0]

# %% first_sample
# misconception: takes the first sample for the first output | hint: feat_first_part
# edits: alias
-    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach())):
+    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o[0].clone())):

# %% string_for_list
# misconception: gives the extractor a string | hint: feat_string_for_list
# edits: alias
-        return create_feature_extractor(model, [step])(x)[step]
+        return create_feature_extractor(model, step)(x)[step]

# %% fx_wherever_it_traces
# misconception: takes each value from fx; a hook only if the trace fails | hint: feat_fx_leaves_out
# breaks: also one like `Picky` or `Unused`
def value_at(model, step, x):
    try:
        return create_feature_extractor(model, [step])(x)[step]
    except torch.fx.proxy.TraceError:
        model.eval()  # the failed trace has left it in training mode
    outputs = []
    run_with(model, {step: lambda m, a, o: outputs.append(o.clone())}, x)
    return outputs[0]

# %% fx_then_last_call
# misconception: after a failed trace, keeps the last call | hint: feat_last_call
# edits: fx_wherever_it_traces
-    return outputs[0]
+    return outputs[-1]
