# nothing to break: Write your own recorder.
# nothing to break: So one forward of `nn.Sequential(nn.Tanh())` gives
# nothing to break: No operation in it works in place, for a reason that the next section shows.

# %% all_duplicates
# misconception: also registers under the second name of a shared module | hint: event_log_hooks_twice
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    for name, module in model.named_modules(remove_duplicate=False):
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
        module.register_full_backward_hook(partial(note, "backward", name))
    return log

# %% backward_pre_missing
# misconception: no full backward pre-hook | hint: event_log_kinds_missing
# breaks: registers hooks of all four kinds
# edits: all_duplicates
-    for name, module in model.named_modules(remove_duplicate=False):
+    for name, module in model.named_modules():
@@
-        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))

# %% calls_the_hook
# misconception: calls the function instead of handing it over | hint: event_log_calls_hook
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    for name, module in model.named_modules():
        module.register_forward_pre_hook(note("forward_pre", name))
        module.register_forward_hook(note("forward", name))
        module.register_full_backward_pre_hook(note("backward_pre", name))
        module.register_full_backward_hook(note("backward", name))
    return log

# %% children_and_root
# misconception: the model and its children | hint: event_log_first_level
# breaks: on every module
# edits: all_duplicates
-    for name, module in model.named_modules(remove_duplicate=False):
+    for name, module in [("", model), *model.named_children()]:

# %% children_only
# misconception: named_children instead of named_modules | hint: event_log_first_level
# edits: all_duplicates
-    for name, module in model.named_modules(remove_duplicate=False):
+    for name, module in model.named_children():

# %% class_names
# misconception: class names for names | hint: event_log_other_names
# breaks: `name` is what `model.named_modules()` calls the module
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    for name, module in model.named_modules():
        module.register_forward_pre_hook(partial(note, "forward_pre", type(module).__name__))
        module.register_forward_hook(partial(note, "forward", type(module).__name__))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", type(module).__name__))
        module.register_full_backward_hook(partial(note, "backward", type(module).__name__))
    return log

# %% extends
# misconception: extends by the pair | hint: takes_elements_apart
# edits: reference
-    """A list to which each hook of each module of `model` adds `(kind, name)` when it runs."""
@@
-    def note(kind, name, *whatever_the_hook_gets):
-        log.append((kind, name))
+    def note(kind, name, *rest):
+        log.extend((kind, name))

# %% fixed_arguments
# misconception: one hook of three arguments for all four kinds | hint: hook_arguments
def event_log(model):
    log = []

    def make_hook(kind, name):
        def hook(module, args, output):
            log.append((kind, name))

        return hook

    for name, module in model.named_modules():
        module.register_forward_pre_hook(make_hook("forward_pre", name))
        module.register_forward_hook(make_hook("forward", name))
        module.register_full_backward_pre_hook(make_hook("backward_pre", name))
        module.register_full_backward_hook(make_hook("backward", name))
    return log

# %% forward_only
# misconception: no hooks for backward | hint: event_log_kinds_missing
# edits: backward_pre_missing
-        module.register_full_backward_hook(partial(note, "backward", name))

# %% inserts_in_front
# misconception: inserts each entry in front | hint: event_log_order
# breaks: by one entry each time a hook runs
# edits: extends
-        log.extend((kind, name))
+        log.insert(0, (kind, name))

# %% kinds_grouped
# misconception: a list for each kind, joined at the end of backward | hint: event_log_order
# edits: extends
-    log = []
+    log, parts = [], {"forward_pre": [], "forward": [], "backward_pre": [], "backward": []}
@@
-        log.extend((kind, name))
+        parts[kind].append((kind, name))
+        log[:] = [entry for part in parts.values() for entry in part]

# %% kinds_mixed_up
# misconception: pre and post mixed up | hint: event_log_other_kinds
# edits: backward_pre_missing
-        module.register_forward_pre_hook(partial(note, "forward_pre", name))
-        module.register_forward_hook(partial(note, "forward", name))
+        module.register_forward_pre_hook(partial(note, "forward", name))
+        module.register_forward_hook(partial(note, "forward_pre", name))
+        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))

# %% last_name_of_shared
# misconception: the last name of a shared module | hint: event_log_other_names
# breaks: under its first name
def event_log(model):
    log = []
    names = {module: name for name, module in model.named_modules(remove_duplicate=False)}

    def note(kind, module, *rest):
        log.append((kind, names[module]))

    for module in names:
        module.register_forward_pre_hook(partial(note, "forward_pre"))
        module.register_forward_hook(partial(note, "forward"))
        module.register_full_backward_pre_hook(partial(note, "backward_pre"))
        module.register_full_backward_hook(partial(note, "backward"))
    return log

# %% last_part_of_the_name
# misconception: the last part of each name only | hint: event_log_other_names
# edits: all_duplicates
-    for name, module in model.named_modules(remove_duplicate=False):
+    for name, module in model.named_modules():
+        name = name.split(".")[-1]

# %% late_binding
# misconception: lambdas that look the loop's name up when they run | hint: event_log_late_binding
def event_log(model):
    log = []
    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda m, a: log.append(("forward_pre", name)))
        module.register_forward_hook(lambda m, a, o: log.append(("forward", name)))
        module.register_full_backward_pre_hook(lambda m, go: log.append(("backward_pre", name)))
        module.register_full_backward_hook(lambda m, gi, go: log.append(("backward", name)))
    return log

# %% late_kind
# misconception: the kind of an inner loop is looked up when the hook runs | hint: event_log_other_kinds
def event_log(model):
    log = []
    for name, module in model.named_modules():
        for kind, register in (
            ("forward_pre", module.register_forward_pre_hook),
            ("forward", module.register_forward_hook),
            ("backward_pre", module.register_full_backward_pre_hook),
            ("backward", module.register_full_backward_hook),
        ):
            register(lambda *rest, name=name: log.append((kind, name)))
    return log

# %% leaves_only
# misconception: only modules without children | hint: event_log_leaves_only
# edits: last_part_of_the_name
-        name = name.split(".")[-1]
+        if len(list(module.children())) > 0:
+            continue

# %% mirror_of_forward
# misconception: writes backward down as a mirror of forward | hint: event_log_order
def event_log(model):
    log, forward_part = [], []

    def note(kind, name, *rest):
        log.append((kind, name))
        forward_part.append((kind, name))

    def mirror(module, grad_output):
        for kind, name in reversed(forward_part):
            log.append(("backward_pre" if kind == "forward" else "backward", name))
        forward_part.clear()

    for name, module in model.named_modules():
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
    model.register_full_backward_pre_hook(mirror)
    return log

# %% no_pre_hooks
# misconception: no pre-hooks | hint: event_log_kinds_missing
# edits: backward_pre_missing
-        module.register_forward_pre_hook(partial(note, "forward_pre", name))

# %% no_repetitions
# misconception: keeps an entry once | hint: event_log_keeps_first
# breaks: A module that runs twice appears twice.
# edits: extends
-        log.extend((kind, name))
+        if (kind, name) not in log:
+            log.append((kind, name))

# %% not_registered
# misconception: makes the hooks and does not register them | hint: hook_never_ran
def event_log(model):
    log = []
    hooks = {}
    for name, module in model.named_modules():
        hooks[name] = lambda *rest, name=name: log.append(("forward", name))
    return log

# %% one_log_for_all
# misconception: one global list | hint: shared_list
# breaks: Each model has a list of its own
events = []


def note(kind, name, *rest):
    events.append((kind, name))


def event_log(model):
    for name, module in model.named_modules():
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
        module.register_full_backward_hook(partial(note, "backward", name))
    return events

# %% other_words
# misconception: the register methods' words for the kinds | hint: event_log_other_kinds
# breaks: `kind` is one of `"forward_pre"`, `"forward"`, `"backward_pre"` and `"backward"`.
# edits: backward_pre_missing
-        module.register_full_backward_hook(partial(note, "backward", name))
+        module.register_full_backward_pre_hook(partial(note, "full_backward_pre", name))
+        module.register_full_backward_hook(partial(note, "full_backward", name))

# %% own_walk
# misconception: a walk of its own that comes to a shared module twice | hint: event_log_hooks_twice
# breaks: one hook of each kind
def event_log(model):
    log = []

    def visit(module, name):
        module.register_forward_pre_hook(lambda m, a: log.append(("forward_pre", name)))
        module.register_forward_hook(lambda m, a, o: log.append(("forward", name)))
        module.register_full_backward_pre_hook(lambda m, go: log.append(("backward_pre", name)))
        module.register_full_backward_hook(lambda m, gi, go: log.append(("backward", name)))
        for child_name, child in module.named_children():
            visit(child, f"{name}.{child_name}" if name else child_name)

    visit(model, "")
    return log

# %% registered_twice
# misconception: the register loop ran twice | hint: event_log_registered_again
# edits: all_duplicates
-    for name, module in model.named_modules(remove_duplicate=False):
+    for name, module in [*model.named_modules(), *model.named_modules()]:

# %% removes_itself
# misconception: hooks that remove themselves after the first run | hint: runs_only_once
# breaks: The list then grows with each forward and each backward pass
def event_log(model):
    log, handles = [], []

    def note(kind, name, *rest):
        log.append((kind, name))
        if kind == "backward" and len(log) == 4 * len(handles) // 4:
            for handle in handles:
                handle.remove()

    for name, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(partial(note, "forward_pre", name)))
        handles.append(module.register_forward_hook(partial(note, "forward", name)))
        handles.append(module.register_full_backward_pre_hook(partial(note, "backward_pre", name)))
        handles.append(module.register_full_backward_hook(partial(note, "backward", name)))
    return log

# %% returns_the_handles
# misconception: returns the handles | hint: returns_no_list
# breaks: and returns a list
def event_log(model):
    log, handles = [], {}

    def note(kind, name, *rest):
        log.append((kind, name))

    for name, module in model.named_modules():
        handles[name] = (
            module.register_forward_pre_hook(partial(note, "forward_pre", name)),
            module.register_forward_hook(partial(note, "forward", name)),
            module.register_full_backward_pre_hook(partial(note, "backward_pre", name)),
            module.register_full_backward_hook(partial(note, "backward", name)),
        )
    return handles

# %% returns_the_list
# misconception: the hook returns the list, which becomes the input | hint: watcher_changes_output
# breaks: works as it did before
# edits: extends
-        log.extend((kind, name))
+        log.append((kind, name))
+        return log

# %% root_called_model
# misconception: another name for the model itself | hint: event_log_other_names
# breaks: `""` for the model
# edits: last_part_of_the_name
-        name = name.split(".")[-1]
+        name = name or "model"

# %% root_missing
# misconception: leaves the model itself out | hint: root_missing
# breaks: and on the model itself
# edits: leaves_only
-        if len(list(module.children())) > 0:
+        if name == "":

# %% swapped_pair
# misconception: name first | hint: event_log_swaps_pair
# breaks: a pair `(kind, name)`
# edits: extends
-        log.extend((kind, name))
+        log.append((name, kind))

# %% two_levels
# misconception: the model, children and grandchildren | hint: event_log_two_levels
# breaks: The model may be of any depth
# edits: all_duplicates
-    for name, module in model.named_modules(remove_duplicate=False):
+    def register(name, module):
@@
         module.register_full_backward_hook(partial(note, "backward", name))
+
+    register("", model)
+    for name, child in model.named_children():
+        register(name, child)
+        for inner, grandchild in child.named_children():
+            register(f"{name}.{inner}", grandchild)

# %% typed_in_names
# misconception: the names of the lesson's network, typed in | hint: event_log_written_down
# edits: all_duplicates
-    for name, module in model.named_modules(remove_duplicate=False):
+    names = ["", "0", "0.0", "0.1", "1", "1.0", "1.1"]
+    for name, module in zip(names, model.modules()):

# %% walk_at_every_level
# misconception: registers recursively on walks that are recursive already | hint: event_log_registered_again
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    for outer, parent in model.named_modules():
        for inner, module in parent.named_modules():
            name = ".".join(part for part in (outer, inner) if part)
            module.register_forward_pre_hook(partial(note, "forward_pre", name))
            module.register_forward_hook(partial(note, "forward", name))
            module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
            module.register_full_backward_hook(partial(note, "backward", name))
    return log

# %% private_dict
# misconception: a walk over the private dict, which takes an empty place for a module | hint: event_log_empty_place
# breaks: have an empty place
def event_log(model):
    log, seen = [], set()

    def visit(module, name):
        if module in seen:
            return
        seen.add(module)
        module.register_forward_pre_hook(lambda m, a: log.append(("forward_pre", name)))
        module.register_forward_hook(lambda m, a, o: log.append(("forward", name)))
        module.register_full_backward_pre_hook(lambda m, go: log.append(("backward_pre", name)))
        module.register_full_backward_hook(lambda m, gi, go: log.append(("backward", name)))
        for child_name, child in module._modules.items():
            visit(child, f"{name}.{child_name}" if name else child_name)

    visit(model, "")
    return log

# %% clears_the_dicts
# misconception: clears all dicts of hooks, so that the cell can run again | hint: removes_other_hooks
# breaks: with the hooks that others have put on it
# edits: last_part_of_the_name
-        name = name.split(".")[-1]
+        module._forward_pre_hooks.clear()
+        module._forward_hooks.clear()

# %% name_kept_on_the_module
# misconception: keeps the name on the module, where the next model's name replaces it | hint: event_log_name_of_another
def event_log(model):
    log = []
    for name, module in model.named_modules():
        module._log_name = name
        module.register_forward_pre_hook(lambda m, a: log.append(("forward_pre", m._log_name)))
        module.register_forward_hook(lambda m, a, o: log.append(("forward", m._log_name)))
        module.register_full_backward_pre_hook(lambda m, g: log.append(("backward_pre", m._log_name)))
        module.register_full_backward_hook(lambda m, i, o: log.append(("backward", m._log_name)))
    return log

# %% no_equal_neighbours
# misconception: writes equal neighbours down once | hint: event_log_equal_neighbours
# breaks: by one entry each time a hook runs
def event_log(model):
    log = []

    def note(*event):
        if not log or log[-1] != event:
            log.append(event)
    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda m, a, n=name: note("forward_pre", n))
        module.register_forward_hook(lambda m, a, o, n=name: note("forward", n))
        module.register_full_backward_pre_hook(lambda m, g, n=name: note("backward_pre", n))
        module.register_full_backward_hook(lambda m, i, o, n=name: note("backward", n))
    return log

# %% trains_the_model
# misconception: puts the model into training mode | hint: event_log_changes_mode
# breaks: and works as it did before
# edits: all_duplicates
-    for name, module in model.named_modules(remove_duplicate=False):
+    model.train()
+    for name, module in model.named_modules():

# %% log_on_the_model
# misconception: keeps the list on the model, where a second call replaces it | hint: first_list_taken_away
# breaks: The list then grows with each forward and each backward pass
def event_log(model):
    model.log = log = []

    def note(kind, name, *_):
        model.log.append((kind, name))

    for name, module in model.named_modules():
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
        module.register_full_backward_hook(partial(note, "backward", name))
    return log

# %% no_backward_hooks_on_frozen_layers
# misconception: no backward hooks on layers that do not learn | hint: event_log_frozen_left_out
# breaks: registers hooks of all four kinds on every module
def event_log(model):
    log = []
    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda *_, name=name: log.append(("forward_pre", name)))
        module.register_forward_hook(lambda *_, name=name: log.append(("forward", name)))
        parameters = list(module.parameters())
        if not parameters or any(p.requires_grad for p in parameters):
            module.register_full_backward_pre_hook(lambda *_, name=name: log.append(("backward_pre", name)))
            module.register_full_backward_hook(lambda *_, name=name: log.append(("backward", name)))
    return log

# %% gives_detached_gradients_back
# misconception: gives detached gradients back | hint: cut_from_its_inputs
# breaks: works as it did before
def event_log(model):
    log = []

    def backward(name, module, grad_input, grad_output):
        log.append(("backward", name))
        return tuple(None if g is None else g.detach() for g in grad_input)

    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda *_, name=name: log.append(("forward_pre", name)))
        module.register_forward_hook(lambda *_, name=name: log.append(("forward", name)))
        module.register_full_backward_pre_hook(lambda *_, name=name: log.append(("backward_pre", name)))
        module.register_full_backward_hook(partial(backward, name))
    return log

# %% not_with_create_graph
# misconception: leaves out passes that are recorded themselves | hint: create_graph_left_out
# breaks: The list then grows with each forward and each backward pass
# edits: no_repetitions
-        if (kind, name) not in log:
+        if kind.startswith("forward") or not torch.is_grad_enabled():
