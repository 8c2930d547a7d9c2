# nothing to break: Here is a model.
# nothing to break: Each of its modules, but not the model itself, gets a forward hook.
# nothing to break: Otherwise you can leave it `None`.
# nothing to break: Keep your prediction as you made it.
# nothing to break: Then write the tool that tells.
# nothing to break: (In the tests every output is one tensor, and no model raises an error or switches gradients on by itself.
# nothing to break: The reference solution copies tuples as well.)

# %% a_round_too_many
# misconception: counts one round too many | hint: feat_rounds_counted
predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, handles = [], []
    try:
        for name, module in model.named_modules():
            if name:
                hook = lambda m, a, o, name=name: calls.append((name, o.detach().clone()))
                handles.append(module.register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])

# %% alias
# misconception: keeps the outputs themselves | hint: feat_alias
# breaks: as they were, and without a gradient
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
@@
     calls, handles = [], []
+
+    def keep(name, module, args, output):
+        calls.append((name, output.detach()))
+
@@
-                hook = lambda m, a, o, name=name: calls.append((name, o.detach().clone()))
-                handles.append(module.register_forward_hook(hook))
+                handles.append(module.register_forward_hook(partial(keep, name)))

# %% children_only
# misconception: hooks on the direct children only | hint: feat_top_level
# edits: alias
-        calls.append((name, output.detach()))
+        calls.append((name, output.detach().clone()))
@@
-        for name, module in model.named_modules():
-            if name:
-                handles.append(module.register_forward_hook(partial(keep, name)))
+        for name, child in model.named_children():
+            handles.append(child.register_forward_hook(partial(keep, name)))

# %% class_names
# misconception: files calls under class names | hint: class_or_name
# edits: alias
-    def keep(name, module, args, output):
-        calls.append((name, output.detach()))
+    def keep(module, args, output):
+        calls.append((module.__class__.__name__, output.detach().clone()))
@@
-                handles.append(module.register_forward_hook(partial(keep, name)))
+                handles.append(module.register_forward_hook(keep))

# %% classes_predicted
# misconception: predicts classes | hint: class_or_name
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["Linear", "ReLU", "Linear", "ReLU", "Linear", "ReLU"]

# %% dict_keeps_the_last
# misconception: a dict by name keeps the last call | hint: feat_one_entry
# breaks: **one for each call** of each module inside the model
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
@@
-    calls, handles = [], []
+    calls, handles = {}, []
@@
-                hook = lambda m, a, o, name=name: calls.append((name, o.detach().clone()))
+                hook = lambda m, a, o, name=name: calls.update({name: o.detach().clone()})
@@
-    return calls
+    return list(calls.items())

# %% every_name
# misconception: a hook for each name of a module | hint: feat_under_each_name
# breaks: The name is the one that `named_modules()` gives.
# edits: children_only
-        for name, child in model.named_children():
-            handles.append(child.register_forward_hook(partial(keep, name)))
+        for name, module in model.named_modules(remove_duplicate=False):
+            if name:
+                handles.append(module.register_forward_hook(partial(keep, name)))

# %% function_predicted
# misconception: expects a report from torch.relu | hint: feat_function_fires
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "relu"]

# %% graph_kept
# misconception: keeps the graph | hint: feat_graph
# edits: alias
-        calls.append((name, output.detach()))
+        calls.append((name, output.clone()))

# %% hooks_stay
# misconception: leaves the hooks there | hint: feat_hook_left
# breaks: leaves no hook behind
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


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])

# %% keeps_the_first
# misconception: keeps the first call of each module | hint: feat_one_entry
# edits: dict_keeps_the_last
     calls, handles = {}, []
+
+    def keep(name, module, args, output):
+        if name not in calls:
+            calls[name] = output.detach().clone()
+
@@
-                hook = lambda m, a, o, name=name: calls.update({name: o.detach().clone()})
-                handles.append(module.register_forward_hook(hook))
+                handles.append(module.register_forward_hook(partial(keep, name)))

# %% lambda_returns_a_tuple
# misconception: a lambda that returns a tuple replaces the output | hint: hook_replaces_output
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
@@
-                hook = lambda m, a, o, name=name: calls.append((name, o.detach().clone()))
+                hook = lambda m, a, o, name=name: (calls.append((name, o.detach().clone())), None)

# %% late_binding
# misconception: the loop variable is read when the hook runs | hint: loop_variable
# edits: lambda_returns_a_tuple
-                hook = lambda m, a, o, name=name: (calls.append((name, o.detach().clone())), None)
-                handles.append(module.register_forward_hook(hook))
+                handles.append(module.register_forward_hook(lambda m, a, o: calls.append((name, o.detach().clone()))))

# %% leaves_only
# misconception: hooks on modules without children only | hint: feat_no_containers
# breaks: Containers count as well
# edits: every_name
-        for name, module in model.named_modules(remove_duplicate=False):
-            if name:
+        for name, module in model.named_modules():
+            if len(list(module.children())) == 0:

# %% list_for_each_module
# misconception: collects a list for each module | hint: feat_grouped
# edits: keeps_the_first
-        if name not in calls:
-            calls[name] = output.detach().clone()
+        calls.setdefault(name, []).append(output.detach().clone())
@@
-    return list(calls.items())
+    return [(name, output) for name, outputs in calls.items() for output in outputs]

# %% model_predicted
# misconception: expects a report from the model itself | hint: feat_root_listed
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "relu", "mix", "relu", "mix", "relu", ""]

# %% names_without_outputs
# misconception: returns the names alone | hint: feat_names_only
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    names, handles = [], []
    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_hook(lambda m, a, o, name=name: names.append(name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return names


print(record_calls(Rounds(), torch.ones(2, 3)))

# %% nothing_predicted
# misconception: runs it, and writes down what ran without a prediction | hint: feat_no_prediction
# breaks: Predict first.
# breaks: Write the names into the list `predicted` before you run anything.
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = []
+what_ran = ["enter", "relu", "mix", "relu", "mix", "relu"]

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

# %% one_call_a_module
# misconception: expects one call of each module | hint: feat_one_entry
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "relu", "mix"]

# %% one_list_for_all
# misconception: one list for all runs, emptied at each | hint: feat_one_dict
# breaks: Each call of `record_calls` returns a list of its own
# edits: alias
 predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
+calls = []
@@
-    calls, handles = [], []
+    calls.clear()
+    handles = []
@@
-        calls.append((name, output.detach()))
+        calls.append((name, output.detach().clone()))

# %% outputs_without_names
# misconception: returns the outputs alone | hint: feat_outputs_only
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    outputs, handles = [], []
    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_hook(lambda m, a, o: outputs.append(o.detach().clone())))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return outputs


record_calls(Rounds(), torch.ones(2, 3))

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

# %% root_included
# misconception: a hook on the model as well | hint: feat_root_listed
# breaks: the model itself does not
# edits: leaves_only
-            if len(list(module.children())) == 0:
-                handles.append(module.register_forward_hook(partial(keep, name)))
+            handles.append(module.register_forward_hook(partial(keep, name)))

# %% slots_at_the_start
# misconception: a slot for each call, when it begins | hint: feat_begins
# breaks: in the order in which the hooks fire
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, open_calls, handles = [], [], []

    def begin(name, module, args):
        open_calls.append([name, None])
        calls.append(open_calls[-1])

    def end(name, module, args, output):
        open_calls.pop()[1] = output.detach().clone()

    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_pre_hook(partial(begin, name)))
                handles.append(module.register_forward_hook(partial(end, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return [tuple(call) for call in calls]


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])

# %% sorted_by_module
# misconception: expects the calls of one module together | hint: feat_grouped
# breaks: If the run shows something else, write what ran into `what_ran`.
# edits: a_round_too_many
-predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "relu", "relu", "relu", "mix", "mix"]

# %% a_try_run_first
# misconception: runs the model once more, to see which modules run | hint: feat_runs_twice
# breaks: runs any model on `x` once
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
what_ran = None


def record_calls(model, x):
    ran, calls, handles = set(), [], []
    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(lambda module, args, output: ran.add(module)))
    model(x)
    for handle in handles:
        handle.remove()
    handles = []
    for name, module in model.named_modules():
        if module in ran and name:
            hook = lambda module, args, output, name=name: calls.append((name, output.detach().clone()))
            handles.append(module.register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return calls

# %% wrong_and_left_so
# misconception: writes another wrong list after the run | hint: feat_one_entry
# edits: wrong_guess_kept
-predicted = ["enter", "relu", "mix", "relu"]
-what_ran = ["enter", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "mix", "relu"]
+what_ran = ["enter", "relu", "mix"]

# %% order_of_init
# misconception: expects the first calls in the order of __init__ | hint: feat_other_order
# edits: wrong_guess_kept
-predicted = ["enter", "relu", "mix", "relu"]
-what_ran = ["enter", "relu", "mix", "relu", "mix", "relu"]
+predicted = ["enter", "mix", "relu", "mix", "relu", "relu"]
+what_ran = None

# %% records_in_eval_mode
# misconception: switches to eval mode before it looks | hint: changes_mode
# edits: order_of_init
-predicted = ["enter", "mix", "relu", "mix", "relu", "relu"]
+predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
@@
     calls = []
+    model.eval()

# %% equal_outputs_are_one_call
# misconception: takes a second call with the same output for the first one | hint: feat_equal_calls
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
what_ran = None


def record_calls(model, x):
    calls = []

    def keep(name, module, args, output):
        if not calls or calls[-1][0] != name or not torch.equal(calls[-1][1], output):
            calls.append((name, output.detach().clone()))

    with ExitStack() as stack:
        for name, module in model.named_modules():
            if name:
                stack.enter_context(module.register_forward_hook(partial(keep, name)))
        model(x)
    return calls

# %% layers_that_do_nothing_left_out
# misconception: leaves out nn.Identity, which changes nothing | hint: feat_equal_calls
# breaks: for each call** of each module inside the model
# edits: records_in_eval_mode
-    model.eval()
@@
-            if name:
+            if name and not isinstance(module, nn.Identity):

# %% calls_forward
# misconception: calls the model's forward, past the hooks on the model itself | hint: feat_forward_called
# breaks: runs any model on `x` once
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]

what_ran = None


def record_calls(model: nn.Module, x: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
    calls = []
    with ExitStack() as stack:
        for name, module in model.named_modules():
            if name:
                stack.enter_context(module.register_forward_hook(lambda m, a, o, name=name: calls.append((name, o.detach().clone()))))
        model.forward(x)
    return calls

# %% copies_by_multiplying
# misconception: copies by a product, which turns whole numbers into floats | hint: feat_digits_lost
# breaks: Outputs are kept as in `safe_features`: as they were
# edits: calls_forward
-                stack.enter_context(module.register_forward_hook(lambda m, a, o, name=name: calls.append((name, o.detach().clone()))))
-        model.forward(x)
+                stack.enter_context(module.register_forward_hook(
+                    lambda m, a, o, name=name: calls.append((name, o.detach() * 1.0))))
+        model(x)

# %% hears_foreign_modules
# misconception: records modules that are not inside the model | hint: feat_not_inside
# breaks: of each module inside the model
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]

what_ran = None


def record_calls(model: nn.Module, x: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
    names = {module: name for name, module in model.named_modules()}
    calls = []

    def hook(module, args, output):
        if module is not model:
            calls.append((names.get(module, type(module).__name__), output.detach().clone()))

    with nn.modules.module.register_module_forward_hook(hook):
        model(x)
    return calls

# %% wrong_second_thoughts
# misconception: a right prediction, and something else for what ran | hint: feat_grouped
# breaks: write what ran into `what_ran`
# edits: calls_forward
-what_ran = None
+what_ran = ["enter", "relu", "relu", "relu", "mix", "mix"]
@@
-        model.forward(x)
+        model(x)

# %% to_the_device_of_the_first_parameter
# misconception: asks the model's first parameter for its device | hint: feat_first_parameter
# breaks: runs any model on `x` once
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
what_ran = None


def record_calls(model, x):
    calls = []
    with ExitStack() as stack:
        for name, module in list(model.named_modules())[1:]:
            hook = lambda m, a, o, name=name: calls.append((name, o.detach().clone()))
            stack.enter_context(module.register_forward_hook(hook))
        model(x.to(next(model.parameters()).device))
    return calls

# %% times_one
# misconception: copies by a product with 1, which turns true and false into whole numbers | hint: feat_digits_lost
# breaks: Outputs are kept as in `safe_features`: as they were
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
what_ran = None


def record_calls(model, x):
    calls = []
    with ExitStack() as stack:
        for name, module in list(model.named_modules())[1:]:
            hook = lambda m, a, o, name=name: calls.append((name, o.detach() * 1))
            stack.enter_context(module.register_forward_hook(hook))
        model(x)
    return calls

# %% deep_copies_without_grad
# misconception: deep copies, with autograd switched off; the copy of a parameter requires a gradient all the same | hint: feat_graph
# breaks: and without a gradient
import copy

predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
what_ran = None


def record_calls(model, x):
    calls = []
    with torch.no_grad(), ExitStack() as stack:
        for name, module in list(model.named_modules())[1:]:
            hook = lambda m, a, o, name=name: calls.append((name, copy.deepcopy(o)))
            stack.enter_context(module.register_forward_hook(hook))
        model(x)
    return calls

# %% shapes_of_the_outputs
# misconception: notes shapes | hint: shape_for_output
# breaks: a list of pairs `(name, output)`
# edits: times_one
-            hook = lambda m, a, o, name=name: calls.append((name, o.detach() * 1))
+            hook = lambda m, a, o, name=name: calls.append((name, tuple(o.shape)))

# %% steps_of_the_graph
# misconception: takes the steps of torchvision's graph for calls of modules | hint: feat_numbered
# breaks: The name is the one that `named_modules()` gives.
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
what_ran = None


def record_calls(model, x):
    steps = get_graph_node_names(model)[1][1:]
    with torch.no_grad():
        values = create_feature_extractor(model, steps)(x)
    return [(step, values[step].clone()) for step in steps]
