# nothing to break: Write `nan_in_backward(model, x, loss_of)`.

# %% nan_only
# misconception: looks for NaN, and not for infinity | hint: nan_one_too_late | canary
# breaks: the name of the first operation that made NaN or infinity in a gradient
# edits: removes_its_hooks
-        bad = any(not grad.isfinite().all() for grad in made if grad is not None)
+        bad = any(grad.isnan().any() for grad in made if grad is not None)

# %% looks_at_what_it_gets
# misconception: takes grad_outputs for what the operation makes | hint: nan_one_too_late
# edits: removes_its_hooks
-        bad = any(not grad.isfinite().all() for grad in made if grad is not None)
+        bad = any(not grad.isfinite().all() for grad in got if grad is not None)

# %% first_entry_only
# misconception: an operation makes one gradient only | hint: nan_one_too_late
# edits: removes_its_hooks
-        bad = any(not grad.isfinite().all() for grad in made if grad is not None)
+        bad = any(not grad.isfinite().all() for grad in made[:1] if grad is not None)

# %% last_one
# misconception: each one overwrites the one before | hint: nan_last
# edits: removes_its_hooks
-        if bad and result is None:
+        if bad:

# %% first_of_forward
# misconception: the first in the order of forward | hint: nan_last
# edits: sum_is_finite
-    for where, made in log:
+    for where, made in log[::-1]:

# %% first_way_only
# misconception: follows the first of the next functions only | hint: nan_first_way
# edits: sum_is_finite
-        waiting.extend(following for following, index in node.next_functions if following is not None)
+        waiting.extend(following for following, index in node.next_functions[:1] if following is not None)

# %% last_node_only
# misconception: hooks the last operation alone | hint: nan_nothing_found
# edits: sum_is_finite
-        waiting.extend(following for following, index in node.next_functions if following is not None)

# %% none_is_no_tensor
# misconception: takes each entry for a tensor | hint: nan_entry_is_none
# edits: sum_is_finite
-        if any(grad is not None and not torch.isfinite(grad.sum()) for grad in made):
+        if any(not torch.isfinite(grad.sum()) for grad in made):

# %% walks_into_none
# misconception: takes each of the next functions for a node | hint: nan_entry_is_none
# edits: got_finite_and_made_not
-        if node is None or node in seen:
+        if node in seen:

# %% nodes_of_the_model_only
# misconception: hooks what made_by has noted, and not the loss | hint: nan_loss_forgotten
# breaks: For an operation of the loss, the second name is `''`, as for the model's own forward.
# edits: removes_its_hooks
-    nodes = [loss.grad_fn]
-    for node in nodes:
-        nodes += [one for one, _ in node.next_functions if one is not None and one not in nodes]
+    nodes = list(names)

# %% no_name_is_none
# misconception: None for the module of the loss | hint: nan_no_name
# edits: got_finite_and_made_not
-        operation, module = node.name(), names.get(node, "")
+        operation, module = node.name(), names.get(node)

# %% key_error_of_the_loss
# misconception: takes for granted that each node was made in a module | hint: nan_key_error
# edits: got_finite_and_made_not
-        operation, module = node.name(), names.get(node, "")
+        operation, module = node.name(), names[node]

# %% none_not_expected
# misconception: takes for granted that there is one | hint: nan_none_found
# breaks: If all gradients are finite, it returns `None`.
# edits: got_finite_and_made_not
-    if born:
-        return born[0]
+    return born[0]

# %% pair_of_none
# misconception: a pair in any case | hint: nan_none_found
# edits: removes_its_hooks
-    result = None
+    result = ["", ""]
@@
-        if bad and result is None:
+        if bad and not result[0]:

# %% kept_from_earlier
# misconception: a list that is made once, for all calls | hint: nan_stale
# edits: got_finite_and_made_not
-def nan_in_backward(model, x, loss_of):
-    born = []
+born = []
+
+
+def nan_in_backward(model, x, loss_of):

# %% model_runs_outside
# misconception: the model runs where nobody takes notes | hint: nan_no_module
# breaks: and the name of the innermost module around it
# edits: got_finite_and_made_not
-    with made_by(model) as names:
-        loss = loss_of(model(x))
+    loss = loss_of(model(x))
+    with made_by(model) as names:
+        pass

# %% bare_tensors_only
# misconception: notes of its own, which look at bare tensors alone | hint: nan_in_a_box
def nan_in_backward(model, x, loss_of):
    names, found = {}, []

    def note(name, module, args, output):
        waiting = [output.grad_fn] if torch.is_tensor(output) else []
        while waiting:
            node = waiting.pop()
            if node is not None and node not in names:
                names[node] = name
                waiting += [one for one, _ in node.next_functions]

    def look(where, made, got):
        if not all(grad is None or grad.isfinite().all() for grad in made):
            found.append(where)

    with ExitStack() as hooks:
        for name, module in model.named_modules():
            hooks.enter_context(module.register_forward_hook(partial(note, name)))
        loss = loss_of(model(x))
    nodes = [loss.grad_fn]
    for node in nodes:
        node.register_hook(partial(look, (node.name(), names.get(node, ""))))
        nodes += [one for one, _ in node.next_functions if one is not None and one not in nodes]
    loss.backward()
    return found[0] if found else None

# %% operation_alone
# misconception: the operation without its module | hint: nan_pair
# breaks: and returns a pair of names
# edits: got_finite_and_made_not
-        return born[0]
+        return born[0][0]

# %% module_first
# misconception: the pair the other way round | hint: nan_pair
# edits: got_finite_and_made_not
-                born.append((operation, module))
+                born.append((module, operation))

# %% node_itself
# misconception: the node in place of its name | hint: nan_object
# edits: removes_its_hooks
-            result = [node.name(), names[node] if node in names else ""]
+            result = [node, names[node] if node in names else ""]

# %% block_for_module
# misconception: the first part of the dotted name | hint: nan_module_above
# edits: got_finite_and_made_not
-        operation, module = node.name(), names.get(node, "")
+        operation, module = node.name(), names.get(node, "").split(".")[0]

# %% no_backward
# misconception: registers hooks, and never goes backward | hint: nan_nothing_found
# breaks: runs backward
# edits: got_finite_and_made_not
-    loss.backward()

# %% anomaly
# misconception: PyTorch's anomaly mode, which finds NaN alone and no module | hint: nan_one_too_late
def nan_in_backward(model, x, loss_of):
    with made_by(model) as names, torch.autograd.detect_anomaly(check_nan=True):
        loss = loss_of(model(x))
        try:
            loss.backward()
        except RuntimeError as error:
            operation = str(error).split("'")[1]
            return operation, next((name for node, name in names.items() if node.name() == operation), "")

# %% late_binding
# misconception: the hook reads the loop's variable | hint: nan_late_binding
# edits: sum_is_finite
-        node.register_hook(lambda made, got, where=where: log.append((where, made)))
+        node.register_hook(lambda made, got: log.append((where, made)))

# %% again_and_again
# misconception: goes to a node once for each way that leads there | hint: nan_again
# edits: reference
-        if node is not None and node not in seen:
-            seen.add(node)
+        if node is not None:

# %% infinite_loss
# misconception: takes a loss that is not finite for the birth of the NaN | hint: nan_in_the_loss
# breaks: the name of the first operation that made NaN or infinity in a gradient
# edits: got_finite_and_made_not
     loss.backward()
+    if not loss.isfinite():
+        return loss.grad_fn.name(), ""

# %% last_name_for_the_loss
# misconception: gives operations of the loss the name that was noted last | hint: nan_no_name
# edits: reference
-            node.register_hook(partial(look, (node.name(), names.get(node, ""))))
+            node.register_hook(partial(look, (node.name(), names.get(node, [*names.values()][-1]))))
