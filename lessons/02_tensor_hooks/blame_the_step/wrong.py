# nothing to break: Write `blame(steps, x)`.
# %% hooks_what_comes_out
# misconception: a hook on what each step puts out, so the step before the guilty one is named | hint: blame_neighbour | canary
# breaks: it got a finite gradient
# edits: by_partial
-            handles.append(x.register_hook(partial(note, name)))
             x = step(x)
+            handles.append(x.register_hook(partial(note, name)))

# %% first_to_run
# misconception: the hook that runs first has the last step: a step that returns its input has its hook on the same tensor | hint: blame_same_tensor
# breaks: a step may return its own input
# edits: by_partial
-    for name in reversed(steps):
-        if name in order:
-            return name
+    return order[0] if order else None

# %% first_of_all
# misconception: no bad gradient is kept but the first that a hook finds | hint: blame_same_tensor
# edits: default_value
-        value = steps[name](value.view_as(value))
+        value = steps[name](value)

# %% one_name_for_a_tensor
# misconception: a dict from tensors to names: the later step of one tensor takes the place of the first, which is asked | hint: blame_same_tensor
def blame(steps, x):
    names = {}
    for name, step in steps.items():
        x.retain_grad()
        names.setdefault(x, name)
        x = step(x)
    grads = torch.autograd.grad(x.sum(), list(names))
    bad = [name for name, grad in zip(names.values(), grads) if not grad.isfinite().all()]
    return bad[-1] if bad else None

# %% last_heard
# misconception: the last bad gradient, not the first | hint: blame_last_heard
# breaks: return the first that backward reaches
# edits: by_partial
-    for name in reversed(steps):
+    for name in steps:

# %% first_step_spared
# misconception: only results of steps get a hook, so nobody hears what the first step sends on | hint: blame_first_step
# edits: default_value
-        handles += [value.register_hook(hook_for(name))]
+        handles += [value.register_hook(hook_for(name))] if handles or value is not x else []

# %% first_in_forward
# misconception: the first guilty step in the order of forward | hint: blame_other_guilty
# breaks: If several are guilty, return the first that backward reaches
def blame(steps, x):
    good, handles = {}, []

    def look(number, grad):
        good[number] = bool(grad.isfinite().all())

    handles.append(x.register_hook(partial(look, 0)))
    value = x
    for number, step in enumerate(steps.values(), 1):
        value = step(value)
        handles.append(value.register_hook(partial(look, number)))
    value.sum().backward()
    for handle in handles:
        handle.remove()
    for number, name in enumerate(steps, 1):
        if good[number] and not good[number - 1]:
            return name
    return None

# %% overwritten
# misconception: goes back through the chain, and each guilty step takes the place of the one before | hint: blame_other_guilty
# edits: first_in_forward
-    for number, name in enumerate(steps, 1):
-        if good[number] and not good[number - 1]:
-            return name
-    return None
+    guilty = None
+    for number, name in reversed(list(enumerate(steps, 1))):
+        if good[number] and not good[number - 1]:
+            guilty = name
+    return guilty

# %% removes_one_of_x
# misconception: removes the hook on x only, and a step that returns x has left another there | hint: blame_hook_stays
# edits: first_in_forward
-        handles.append(value.register_hook(partial(look, number)))
+        value.register_hook(partial(look, number))
@@
-    for number, name in enumerate(steps, 1):
+    for number, name in reversed(list(enumerate(steps, 1))):

# %% nan_only
# misconception: looks for NaN and overlooks infinities | hint: blame_nan_only
# breaks: a NaN or an infinity
# edits: by_partial
-        if not torch.isfinite(grad).all():
+        if grad.isnan().any():

# %% infinite_only
# misconception: looks for infinities and overlooks NaN | hint: blame_infinite_only
# edits: default_value
-            bad = grad.isnan() | grad.isinf()
+            bad = grad.isinf()

# %% any_for_all
# misconception: content with one finite element | hint: blame_nobody
# edits: by_partial
-        if not torch.isfinite(grad).all():
+        if not torch.isfinite(grad).any():

# %% late_binding
# misconception: the hook reads the loop's variable | hint: loop_variable
def blame(steps, x):
    guilty = None

    def hook(grad):
        nonlocal guilty
        bad = grad.isnan() | grad.isinf()
        if guilty is None and bad.any():
            guilty = name

    value, handles = x, []
    for name in steps:
        handles += [value.register_hook(hook)]
        value = steps[name](value)
    value.sum().backward()
    [handle.remove() for handle in handles]
    return guilty

# %% looks_at_values
# misconception: looks for bad values in forward | hint: blame_nobody
def blame(steps, x):
    for name, step in steps.items():
        x = step(x)
        if not x.isfinite().all():
            return name
    return None

# %% nobody_runs_backward
# misconception: registers hooks and never runs backward | hint: blame_nobody
# breaks: Run them, call backward on the last result's sum
# edits: by_partial
-        x.sum().backward()

# %% reads_the_sum
# misconception: reads x.grad, where earlier passes have left their NaN | hint: accumulated_grad
# edits: walks_back
-    x.grad = None

# %% no_sum
# misconception: backward from a tensor of many elements | hint: blame_no_sum
# edits: by_partial
-        x.sum().backward()
+        x.backward()

# %% mean_for_sum
# misconception: backward from the mean | hint: blame_no_sum
# breaks: call backward on the last result's sum
# edits: by_partial
-        x.sum().backward()
+        x.mean().backward()

# %% hooks_stay
# misconception: never removes its hooks | hint: blame_hook_stays
# breaks: and leave no hook on `x`
# edits: default_value
-    [handle.remove() for handle in handles]

# %% stays_if_all_is_well
# misconception: removes its hooks only if somebody is guilty | hint: blame_hook_stays
# edits: default_value
-    [handle.remove() for handle in handles]
+    if guilty:
+        [handle.remove() for handle in handles]

# %% takes_one_for_granted
# misconception: takes for granted that there is a guilty one | hint: blame_none_guilty
# breaks: if none, `None`
# edits: first_to_run
-    return order[0] if order else None
+    return [name for name in steps if name in order][-1]

# %% empty_text
# misconception: an empty text where nobody is guilty | hint: blame_none_guilty
# edits: default_value
-    return guilty
+    return guilty or ""

# %% everybody
# misconception: the list of all bad ones | hint: blame_everybody
# edits: first_to_run
-    return order[0] if order else None
+    return order or None

# %% returns_the_function
# misconception: the function, not its name | hint: blame_not_the_name
# edits: by_partial
-            return name
+            return steps[name]

# %% one_call_for_all
# misconception: each step is called with x | hint: none
# breaks: each later one gets the previous result
# edits: walks_back
-        values.append(step(values[-1]))
+        values.append(step(x))
