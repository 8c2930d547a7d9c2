# %% hooks_stay
# misconception: leaves the hooks there | hint: feat_hook_left
# breaks: No hook stays
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls = []

    def keep(name, module, args, output):
        calls.append((name, output.detach().clone()))

    for name, module in model.named_modules():
        if name:
            module.register_forward_hook(partial(keep, name))
    model(x)
    return calls

# %% late_binding
# misconception: the loop variable is read when the hook runs | hint: loop_variable
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, handles = [], []
    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_hook(lambda m, a, o: calls.append((name, o.detach().clone()))))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls

# %% alias
# misconception: keeps the outputs themselves | hint: feat_alias
# breaks: Outputs are kept as in `safe_features`
# edits: late_binding
+
+    def keep(name, module, args, output):
+        calls.append((name, output.detach()))
+
     try:
@@
-                handles.append(module.register_forward_hook(lambda m, a, o: calls.append((name, o.detach().clone()))))
+                handles.append(module.register_forward_hook(partial(keep, name)))

# %% dict_keeps_the_last
# misconception: a dict by name keeps the last call | hint: feat_one_entry
# breaks: **one for each call**
# edits: late_binding
-    calls, handles = [], []
+    calls, handles = {}, []
@@
-                handles.append(module.register_forward_hook(lambda m, a, o: calls.append((name, o.detach().clone()))))
+                hook = lambda m, a, o, name=name: calls.update({name: o.detach().clone()})
+                handles.append(module.register_forward_hook(hook))
@@
-    return calls
+    return list(calls.items())

# %% graph_kept
# misconception: keeps the graph | hint: feat_graph
# edits: alias
-        calls.append((name, output.detach()))
+        calls.append((name, output.clone()))

# %% leaves_only
# misconception: hooks on modules without children only | hint: feat_no_containers
# breaks: of a module inside `model`
# edits: alias
-        calls.append((name, output.detach()))
+        calls.append((name, output.detach().clone()))
@@
-            if name:
+            if len(list(module.children())) == 0:

# %% numbered_calls
# misconception: numbers the calls as torch.fx does | hint: feat_numbered
# edits: alias
-    calls, handles = [], []
+    calls, handles, times = [], [], {}
@@
-        calls.append((name, output.detach()))
+        number = times.get(name, 0)
+        times[name] = number + 1
+        calls.append((f"{name}_{number}" if number else name, output.detach().clone()))

# %% root_included
# misconception: a hook on the model as well | hint: feat_root_listed
# breaks: of a module inside `model`
# edits: leaves_only
-            if len(list(module.children())) == 0:
-                handles.append(module.register_forward_hook(partial(keep, name)))
+            handles.append(module.register_forward_hook(partial(keep, name)))

# %% children_only
# misconception: hooks on the direct children only | hint: feat_top_level
# edits: root_included
-        for name, module in model.named_modules():
-            handles.append(module.register_forward_hook(partial(keep, name)))
+        for name, child in model.named_children():
+            handles.append(child.register_forward_hook(partial(keep, name)))

# %% recursion_over_children
# misconception: walks the children of each module | hint: feat_under_each_name
# edits: children_only
-    def keep(name, module, args, output):
-        calls.append((name, output.detach().clone()))
+    def walk(module, prefix=""):
+        for name, child in module.named_children():
+            path = prefix + name
+            handles.append(child.register_forward_hook(lambda m, a, o, p=path: calls.append((p, o.detach().clone()))))
+            walk(child, path + ".")
@@
-        for name, child in model.named_children():
-            handles.append(child.register_forward_hook(partial(keep, name)))
+        walk(model)

# %% last_name
# misconception: a module with several names has the last one | hint: feat_last_name
# breaks: a module with several names reports under the first
# edits: late_binding
-        for name, module in model.named_modules():
-            if name:
-                handles.append(module.register_forward_hook(lambda m, a, o: calls.append((name, o.detach().clone()))))
+        names = {module: name for name, module in model.named_modules(remove_duplicate=False) if name}
+        for module, name in names.items():
+            hook = lambda m, a, o, name=name: calls.append((name, o.detach().clone()))
+            handles.append(module.register_forward_hook(hook))

# %% sorted_by_module
# misconception: expects the calls of one module together | hint: feat_grouped
# edits: late_binding
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "relu", "relu", "relu", "mix", "mix"]
@@
-                handles.append(module.register_forward_hook(lambda m, a, o: calls.append((name, o.detach().clone()))))
+                hook = lambda m, a, o, name=name: calls.append((name, o.detach().clone()))
+                handles.append(module.register_forward_hook(hook))

# %% a_round_too_many
# misconception: counts one round too many | hint: feat_rounds_counted
# edits: sorted_by_module
-predicted = ["enter", "relu", "relu", "relu", "mix", "mix"]
+predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]

# %% function_predicted
# misconception: expects a report from torch.relu | hint: feat_function_fires
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "relu"]

# %% nothing_predicted
# misconception: runs it, and writes down what ran without a prediction | hint: feat_no_prediction | canary
# breaks: Write your guess, in order, into `predicted`
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = []
+what_ran = ["enter", "relu", "mix", "relu", "mix", "relu"]

# %% one_call_a_module
# misconception: expects one call of each module | hint: feat_one_entry
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "relu", "mix"]

# %% wrong_and_left_so
# misconception: writes another wrong list after the run | hint: feat_one_entry
# breaks: if it was wrong, write the real order into `what_ran`
# edits: wrong_guess_kept
-predicted = ["enter", "relu", "mix", "relu"]
-what_ran = ["enter", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "mix", "relu"]
+what_ran = ["enter", "relu", "mix"]

# %% in_eval_mode
# misconception: looks at the model in eval mode, whatever its own mode is | hint: feat_in_eval_mode
# breaks: in its current mode
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls = []
    hooks = {name: lambda m, a, o, name=name: calls.append((name, o.detach().clone())) for name, _ in model.named_modules() if name}
    with looking_at(model, hooks):
        model(x)
    return calls


@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    with ExitStack() as stack:
        for name, hook in hooks.items():
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model.eval()
        with torch.no_grad():
            yield
    for module, training in modes:
        module.training = training
