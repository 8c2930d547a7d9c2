# nothing to break: Write `first_to_die(net, train)`.
# nothing to break: In each step, `train` runs `net` and each of its ReLUs once.

# %% all_layers
# misconception: watches every module, also a last layer that starts with zeros | hint: died_any_layer
# breaks: the name of the ReLU that was the first to return only zeros
# edits: closure_and_counter
-            if type(module) is nn.ReLU:
-                hooks.enter_context(module.register_forward_hook(hook_for(name)))
+            hooks.enter_context(module.register_forward_hook(hook_for(name)))

# %% any_zero
# misconception: a single zero is enough | hint: died_not_all_zeros
# edits: list_for_each_relu
-        dead.setdefault(name, []).append(bool((output == 0).all()))  # in the order in which they run
+        dead.setdefault(name, []).append(bool((output == 0).any()))

# %% nearly_all
# misconception: a share of more than 99 % | hint: died_not_all_zeros
# breaks: only zeros
# edits: list_for_each_relu
-        dead.setdefault(name, []).append(bool((output == 0).all()))  # in the order in which they run
+        dead.setdefault(name, []).append((output == 0).float().mean().item() > 0.99)

# %% counts_from_one
# misconception: counts the steps from 1 | hint: died_counts_calls
# breaks: and the step, counted from 0
# edits: list_for_each_relu
-    return name, step
+    return name, step + 1

# %% counts_all_calls
# misconception: one counter for all ReLUs | hint: died_counts_calls
# edits: closure_and_counter
-    died = []
+    died, step = [], 0
@@
-        step = 0
-
@@
-            nonlocal step
@@
-            step += 1
+            count()
@@
         return hook

+    def count():
+        nonlocal step
+        step += 1
+

# %% alphabet
# misconception: the smallest pair of step and name: of two in one step the first of the alphabet | hint: died_in_one_step
# breaks: If several die in one step, name the one that runs first
# edits: list_for_each_relu
-    step, name = min(deaths, key=lambda death: death[0])
+    step, name = min(deaths)

# %% order_of_names
# misconception: of two in one step the one that named_modules() shows first | hint: died_in_one_step
# edits: list_for_each_relu
-    dead = {}
+    dead = {name: [] for name, module in net.named_modules() if isinstance(module, nn.ReLU)}

# %% later_in_the_step
# misconception: of two in one step the one that runs last | hint: died_in_one_step
# edits: counts_steps_on_the_net
-        return found[0]
+        return max((one for one in found if one[1] == found[0][1]), key=found.index)

# %% last_death
# misconception: each death overwrites the one before | hint: died_later_one
# edits: counts_steps_on_the_net
-        return found[0]
+        return found[-1]

# %% first_in_the_net
# misconception: the first one in the net that ever died, not the first in time | hint: died_later_one
# edits: list_for_each_relu
-    step, name = min(deaths, key=lambda death: death[0])
+    step, name = deaths[0]

# %% looks_at_the_end
# misconception: looks at the last step only | hint: died_later_one
# edits: list_for_each_relu
-    deaths = [(steps.index(True), name) for name, steps in dead.items() if True in steps]
+    deaths = [(len(steps) - 1, name) for name, steps in dead.items() if steps and steps[-1]]

# %% late_binding
# misconception: the hook reads the loop's variable | hint: loop_variable
def first_to_die(net, train):
    died, handles = [], []
    steps = {}
    for name, module in net.named_modules():
        if isinstance(module, nn.ReLU):

            def hook(module, args, output):
                steps[module] = steps.get(module, -1) + 1
                if not output.any():
                    died.append((name, steps[module]))

            handles.append(module.register_forward_hook(hook))
    train(net)
    for handle in handles:
        handle.remove()
    return died[0] if died else None

# %% late_key
# misconception: the hook reads the loop's variable, as a key | hint: loop_variable
# edits: late_binding
-    steps = {}
+    steps = {name: -1 for name, module in net.named_modules() if isinstance(module, nn.ReLU)}
@@
-                steps[module] = steps.get(module, -1) + 1
+                steps[name] += 1
@@
-                    died.append((name, steps[module]))
+                    died.append((name, steps[name]))

# %% children_only
# misconception: looks at the children only | hint: died_upper_levels
# edits: closure_and_counter
-        for name, module in net.named_modules():
+        for name, module in net.named_children():

# %% last_part_of_the_name
# misconception: the name without its path | hint: died_upper_levels
# edits: list_for_each_relu
-    return name, step
+    return name.split(".")[-1], step

# %% hooks_stay
# misconception: never removes its hooks | hint: died_hooks_stay
# breaks: Afterwards none of the function's hooks is left
# edits: list_for_each_relu
-    for handle in handles:
-        handle.remove()

# %% last_handle_only
# misconception: one name for all handles | hint: died_hooks_stay
# edits: hooks_stay
-    handles = []
@@
-            handles.append(module.register_forward_hook(partial(watch, name)))
+            handle = module.register_forward_hook(partial(watch, name))
     train(net)
+    handle.remove()

# %% returns_before_it_removes
# misconception: returns None before the hooks are removed | hint: died_hooks_stay
# edits: closure_and_counter
-    with contextlib.ExitStack() as hooks:
-        for name, module in net.named_modules():
-            if type(module) is nn.ReLU:
-                hooks.enter_context(module.register_forward_hook(hook_for(name)))
-        train(net)
-    return died[0] if died else None
+    handles = []
+    for name, module in net.named_modules():
+        if type(module) is nn.ReLU:
+            handles.append(module.register_forward_hook(hook_for(name)))
+    train(net)
+    if not died:
+        return None
+    for handle in handles:
+        handle.remove()
+    return died[0]

# %% empties_the_dicts
# misconception: empties the dicts of hooks, other people's hooks included | hint: removes_other_hooks
# breaks: other hooks stay
# edits: counts_steps_on_the_net
-        for handle in handles:
-            handle.remove()
+        for module in (net, *names):
+            module._forward_pre_hooks.clear()
+            module._forward_hooks.clear()

# %% none_is_not_expected
# misconception: takes for granted that one dies | hint: died_none_died
# breaks: If none dies, return `None`.
# edits: counts_steps_on_the_net
-    if found:
-        return found[0]
+    return found[0]

# %% minimum_of_nothing
# misconception: the minimum of an empty list | hint: died_none_died
# edits: list_for_each_relu
-    if not deaths:
-        return None

# %% empty_pair
# misconception: a pair of two None where none dies | hint: died_none_died
# edits: closure_and_counter
-    return died[0] if died else None
+    return died[0] if died else (None, None)

# %% does_not_train
# misconception: registers hooks and never trains | hint: died_not_trained | canary
# breaks: The function runs `train(net)` once
# edits: list_for_each_relu
-    train(net)

# %% trains_for_each_relu
# misconception: a training run for each ReLU | hint: died_trains_again
# edits: list_for_each_relu
-    train(net)
+            train(net)

# %% trains_twice
# misconception: trains once more when the hooks are gone | hint: died_trains_again
# breaks: The function runs `train(net)` once
# edits: list_for_each_relu
+    train(net)
     deaths = [(steps.index(True), name) for name, steps in dead.items() if True in steps]

# %% removes_before_it_trains
# misconception: the hooks are off when the training begins | hint: died_finds_nobody
# edits: does_not_train
+    train(net)
     deaths = [(steps.index(True), name) for name, steps in dead.items() if True in steps]

# %% step_first
# misconception: the pair the other way round | hint: died_wrong_pair
# breaks: returns a pair
# edits: list_for_each_relu
-    return name, step
+    return step, name

# %% two_arguments
# misconception: a forward hook of two arguments | hint: hook_arguments
# edits: list_for_each_relu
-    def watch(name, module, args, output):
+    def watch(name, module, output):

# %% backward_hook
# misconception: a full backward hook, in a training whose backward it may never see | hint: died_finds_nobody
# edits: list_for_each_relu
-    def watch(name, module, args, output):
+    def watch(name, module, grad_input, output):
@@
-            handles.append(module.register_forward_hook(partial(watch, name)))
+            handles.append(module.register_full_backward_hook(partial(watch, name)))

# %% looks_at_the_input
# misconception: looks at what goes into the ReLU, which is never all zeros | hint: died_finds_nobody
# edits: list_for_each_relu
-        dead.setdefault(name, []).append(bool((output == 0).all()))  # in the order in which they run
+        dead.setdefault(name, []).append(bool((args[0] == 0).all()))
