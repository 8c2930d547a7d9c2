# nothing to break: Write `hook_once(model, hook)`.
# nothing to break: You need not use `apply`.

# %% children_and_model
# misconception: hooks the model and its direct children | hint: children_for_modules | canary
# breaks: on every module of `model`
def hook_once(model, hook):
    handles = [model.register_forward_hook(hook)]
    for name, child in model.named_children():
        handles.append(child.register_forward_hook(hook))
    return handles

# %% clears_first
# misconception: empties the dict of hooks first | hint: hooks_of_others_removed
def hook_once(model, hook):
    handles = {}

    def register(module):
        module._forward_hooks.clear()
        handles[module] = module.register_forward_hook(hook)

    model.apply(register)
    return list(handles.values())

# %% default_argument
# misconception: a default argument that lives on | hint: mark_outlives_hook
def hook_once(model, hook, seen=set()):
    handles = []
    for module in model.modules():
        if module not in seen:
            seen.add(module)
            handles.append(module.register_forward_hook(hook))
    return handles

# %% every_place
# misconception: goes over all names of a module | hint: hooked_per_visit
def hook_once(model, hook):
    return [
        module.register_forward_hook(hook) for _, module in model.named_modules(remove_duplicate=False)
    ]

# %% every_visit
# misconception: registers at every visit | hint: hooked_per_visit
# breaks: once on each, even if it appears in several places
# edits: this_hook_not_there
-        if hook not in module._forward_hooks.values():
-            handles.append(module.register_forward_hook(hook))
+        handles.append(module.register_forward_hook(hook))

# %% global_hook
# misconception: registers for all modules in the process | hint: global_hook
def hook_once(model, hook):
    return [torch.nn.modules.module.register_module_forward_hook(hook)]

# %% global_memory
# misconception: remembers over all calls | hint: mark_outlives_hook
# edits: every_visit
+seen = set()
+
+
 def hook_once(model, hook):
@@
     def register(module):
+        if module in seen:
+            return
+        seen.add(module)

# %% hook_called
# misconception: calls the hook instead of handing it over | hint: hook_called_at_once
def hook_once(model, hook):
    return [module.register_forward_hook(hook(module, None, None)) for module in model.modules()]

# %% lambda_in_apply
# misconception: registers at every visit, and returns what apply returns | hint: hooked_per_visit
def hook_once(model, hook):
    return model.apply(lambda module: module.register_forward_hook(hook))

# %% last_handle
# misconception: overwrites the handle | hint: one_handle_kept
def hook_once(model, hook):
    for module in model.modules():
        handle = module.register_forward_hook(hook)
    return handle

# %% leaves_only
# misconception: hooks modules without children | hint: hooked_leaves_only
def hook_once(model, hook):
    handles = []
    for module in model.modules():
        if len(list(module.children())) == 0:
            handles.append(module.register_forward_hook(hook))
    return handles

# %% list_of_last_handle
# misconception: makes the list anew in each turn | hint: one_handle_kept
def hook_once(model, hook):
    for module in model.modules():
        handles = []
        handles.append(module.register_forward_hook(hook))
    return handles

# %% mark_on_module
# misconception: leaves a mark on the module | hint: mark_outlives_hook
# breaks: After the handles have been removed, the caller may call `hook_once` again
# edits: this_hook_not_there
-        if hook not in module._forward_hooks.values():
+        if not hasattr(module, "hooked"):
+            module.hooked = True

# %% one_of_each_class
# misconception: remembers classes | hint: alike_taken_for_same
# edits: this_hook_not_there
-    handles = []
+    handles, seen = [], set()
 
     def register(module):
-        if hook not in module._forward_hooks.values():
+        if type(module) not in seen:
+            seen.add(type(module))

# %% only_unshared
# misconception: hooks what is visited just once | hint: shared_left_out
from collections import Counter


def hook_once(model, hook):
    visits = Counter()
    model.apply(lambda module: visits.update([module]))
    return [module.register_forward_hook(hook) for module, number in visits.items() if number == 1]

# %% pre_hook
# misconception: registers a forward pre-hook | hint: hooked_as_another_kind
def hook_once(model, hook):
    return [module.register_forward_pre_hook(hook) for module in model.modules()]

# %% recursion_without_memory
# misconception: own recursion, comes to a shared module twice | hint: hooked_per_visit
def hook_once(model, hook):
    handles = [model.register_forward_hook(hook)]
    for child in model.children():
        handles.extend(hook_once(child, hook))
    return handles

# %% removes_at_once
# misconception: takes the hooks off before it returns | hint: hook_never_ran
def hook_once(model, hook):
    handles = []
    for module in model.modules():
        with module.register_forward_hook(hook) as handle:
            handles.append(handle)
    return handles

# %% returns_nothing
# misconception: returns no handles | hint: returns_nothing
# breaks: It returns the list of the handles
def hook_once(model, hook):
    for module in model.modules():
        module.register_forward_hook(hook)

# %% root_skipped
# misconception: leaves the model itself out | hint: root_missing
# breaks: the model itself included
def hook_once(model, hook):
    return [module.register_forward_hook(hook) for name, module in model.named_modules() if name]

# %% skips_hooked
# misconception: skips every module that has a hook | hint: hooks_of_others_counted
# edits: this_hook_not_there
-        if hook not in module._forward_hooks.values():
+        if len(module._forward_hooks) == 0:

# %% wrapped_without_result
# misconception: puts a function of its own around the hook, and drops the result | hint: hook_result_lost
def hook_once(model, hook):
    def forward_hook(module, args, output):
        hook(module, args, output)

    return [module.register_forward_hook(forward_hook) for module in model.modules()]
