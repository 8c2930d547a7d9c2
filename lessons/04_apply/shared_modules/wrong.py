# nothing to break: Write `hook_once(model, hook)`.
# nothing to break: With or without `apply`: as you like.

# %% children_and_model
# misconception: hooks the model and its direct children | hint: children_for_modules
# breaks: on every module of `model`, at any depth
def hook_once(model, hook):
    handles = [model.register_forward_hook(hook)]
    for name, child in model.named_children():
        handles.append(child.register_forward_hook(hook))
    return handles

# %% clears_first
# misconception: empties the dict of hooks first | hint: hooks_of_others_removed
# breaks: Hooks that somebody else has registered stay
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

# %% direct_children
# misconception: hooks the direct children | hint: children_for_modules
def hook_once(model, hook):
    return [child.register_forward_hook(hook) for child in model.children()]

# %% every_place
# misconception: goes over all names of a module | hint: hooked_per_visit
def hook_once(model, hook):
    return [
        module.register_forward_hook(hook) for _, module in model.named_modules(remove_duplicate=False)
    ]

# %% every_visit
# misconception: registers at every visit | hint: hooked_per_visit
# breaks: exactly once on each, in however many places a module appears
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
seen = set()


def hook_once(model, hook):
    handles = []

    def register(module):
        if module in seen:
            return
        seen.add(module)
        handles.append(module.register_forward_hook(hook))

    model.apply(register)
    return handles

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
# breaks: one for each registration
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

# %% leaves_per_visit
# misconception: hooks leaves, at every visit | hint: hooked_leaves_only
# edits: this_hook_not_there
-        if hook not in module._forward_hooks.values():
+        if not list(module.children()):

# %% list_of_last_handle
# misconception: makes the list anew in each turn | hint: one_handle_kept
def hook_once(model, hook):
    for module in model.modules():
        handles = []
        handles.append(module.register_forward_hook(hook))
    return handles

# %% mark_on_module
# misconception: leaves a mark on the module | hint: mark_outlives_hook
# breaks: A later call with another hook registers that one
# edits: this_hook_not_there
-        if hook not in module._forward_hooks.values():
+        if not hasattr(module, "hooked"):
+            module.hooked = True

# %% one_of_each_class
# misconception: remembers classes | hint: alike_taken_for_same
def hook_once(model, hook):
    handles, seen = [], set()

    def register(module):
        if type(module) not in seen:
            seen.add(type(module))
            handles.append(module.register_forward_hook(hook))

    model.apply(register)
    return handles

# %% one_of_each_class_name
# misconception: remembers class names | hint: alike_taken_for_same
def hook_once(model, hook):
    handles, seen = [], []
    for module in model.modules():
        if module.__class__.__name__ not in seen:
            seen.append(module.__class__.__name__)
            handles.append(module.register_forward_hook(hook))
    return handles

# %% one_of_each_repr
# misconception: remembers what is printed | hint: alike_taken_for_same
def hook_once(model, hook):
    seen = {str(module): module for module in model.modules()}
    return [module.register_forward_hook(hook) for module in seen.values()]

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
# breaks: It returns the **list of the handles**
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

# %% with_kwargs
# misconception: registers a hook that gets keywords too | hint: hooked_as_another_kind
def hook_once(model, hook):
    return [module.register_forward_hook(hook, with_kwargs=True) for module in model.modules()]

# %% wrapped_without_result
# misconception: puts a function of its own around the hook, and drops the result | hint: hook_result_lost
# breaks: A value that `hook` returns replaces the output
def hook_once(model, hook):
    def forward_hook(module, args, output):
        hook(module, args, output)

    return [module.register_forward_hook(forward_hook) for module in model.modules()]

# %% by_last_name
# misconception: takes modules of the same last name for the same | hint: alike_taken_for_same
def hook_once(model, hook):
    modules = {name.rpartition(".")[2]: module for name, module in model.named_modules()}
    return [module.register_forward_hook(hook) for module in modules.values()]

# %% one_owner_at_a_time
# misconception: skips modules that one of its own hooks is on | hint: mark_outlives_hook
# breaks: whether the first hook is still there or not
def hook_once(model, hook):
    def once(module, args, output):
        return hook(module, args, output)

    once.mine = True
    return [
        module.register_forward_hook(once)
        for module in model.modules()
        if not any(hasattr(one, "mine") for one in module._forward_hooks.values())
    ]

# %% wrapped_with_one_input
# misconception: hands the first input on instead of the tuple | hint: hook_in_between
def hook_once(model, hook):
    return [
        module.register_forward_hook(lambda module, args, output: hook(module, args[0], output))
        for module in model.modules()
    ]

# %% hands_on_a_copy
# misconception: hands a copy of the output on | hint: hook_in_between
# edits: wrapped_without_result
-        hook(module, args, output)
+        return hook(module, args, output.clone())

# %% list_reused
# misconception: one list of handles for all calls | hint: shared_list
handles = []


def hook_once(model, hook):
    handles.clear()
    handles.extend(module.register_forward_hook(hook) for module in model.modules())
    return handles

# %% training_only
# misconception: leaves modules in eval mode out | hint: module_left_out
def hook_once(model, hook):
    return [module.register_forward_hook(hook) for module in model.modules() if module.training]

# %% memory_of_pairs
# misconception: remembers which hook a module has had, also when it is gone | hint: mark_outlives_hook
# breaks: a later call registers it again
had = set()


def hook_once(model, hook):
    handles = []
    for module in model.modules():
        if (module, hook) not in had:
            had.add((module, hook))
            handles.append(module.register_forward_hook(hook))
    return handles

# %% in_training_mode_only
# misconception: lets the hook run in training mode only | hint: hook_in_between
# breaks: Hooks run in either mode.
def hook_once(model, hook):
    def in_training(module, args, output):
        if module.training:
            return hook(module, args, output)

    return [module.register_forward_hook(in_training) for module in model.modules()]

# %% tensors_only
# misconception: hands on what the hook returns if it is a tensor | hint: hook_result_lost
# breaks: A value that `hook` returns replaces the output
def hook_once(model, hook):
    def forward_hook(module, args, output):
        result = hook(module, args, output)
        return result if isinstance(result, torch.Tensor) else output

    return [module.register_forward_hook(forward_hook) for module in model.modules()]

# %% dict_of_handles
# misconception: returns the dict that helped to meet each module once | hint: handles_not_in_a_list
# breaks: It returns the **list of
def hook_once(model, hook):
    handles = {}
    for module in model.modules():
        handles[module] = module.register_forward_hook(hook)
    return handles
