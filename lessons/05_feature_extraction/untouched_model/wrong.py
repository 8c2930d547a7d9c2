# nothing to break: It is always used as `with looking_at(model, hooks):`.
# nothing to break: A layer that belongs to two parents is in the same mode as both of them.
# nothing to break: `hooks` is a dict {layer name: forward hook}.
# nothing to break: You may write a function with `@contextmanager` and `yield`

# %% always_train
# misconception: switches to training mode at the end | hint: feat_one_mode_for_all
@contextmanager
def looking_at(model, hooks):
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train()
        for handle in handles:
            handle.remove()

# %% batchnorm_only
# misconception: switches the BatchNorm layers only | hint: feat_some_modules_only
# breaks: every module of the model is in eval mode
@contextmanager
def looking_at(model, hooks):
    norms = [(m, m.training) for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    for norm, _ in norms:
        norm.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for norm, training in norms:
            norm.training = training
        for handle in handles:
            handle.remove()

# %% children_by_name
# misconception: looks for the layers among the children | hint: dotted_name
# edits: always_train
-    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
+    modes = [(module, module.training) for module in model.modules()]
+    handles = [getattr(model, name).register_forward_hook(hook) for name, hook in hooks.items()]
@@
-        model.train()
+        for module, training in modes:
+            module.training = training

# %% children_only
# misconception: sets the flag of the direct children only | hint: feat_some_modules_only
@contextmanager
def looking_at(model, hooks):
    modes = [(child, child.training) for child in model.children()]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    for child, _ in modes:
        child.training = False
    try:
        with torch.no_grad():
            yield
    finally:
        for child, training in modes:
            child.training = training
        for handle in handles:
            handle.remove()

# %% clears_all_hooks
# misconception: empties the dicts of hooks | hint: removes_other_hooks
# breaks: other people's are still there
# edits: children_by_name
-    handles = [getattr(model, name).register_forward_hook(hook) for name, hook in hooks.items()]
+    for name, hook in hooks.items():
+        model.get_submodule(name).register_forward_hook(hook)
@@
-        for handle in handles:
-            handle.remove()
+            module._forward_hooks.clear()

# %% eval_only
# misconception: takes eval for no_grad | hint: feat_eval_is_not_no_grad
# breaks: autograd records nothing
# edits: children_by_name
-    handles = [getattr(model, name).register_forward_hook(hook) for name, hook in hooks.items()]
+    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
@@
-        with torch.no_grad():
-            yield
+        yield

# %% exit_returns_true
# misconception: __exit__ returns True | hint: feat_error_swallowed
class looking_at:
    def __init__(self, model, hooks):
        self.model, self.hooks, self.no_grad = model, hooks, torch.no_grad()

    def __enter__(self):
        self.modes = [(module, module.training) for module in self.model.modules()]
        self.handles = [self.model.get_submodule(name).register_forward_hook(h) for name, h in self.hooks.items()]
        self.model.eval()
        self.no_grad.__enter__()
        return self

    def __exit__(self, *error):
        self.no_grad.__exit__(*error)
        for module, training in self.modes:
            module.training = training
        for handle in self.handles:
            handle.remove()
        return True

# %% freezes_as_well
# misconception: freezes and thaws all parameters | hint: feat_freezes
# breaks: the `requires_grad` of the parameters are what they were
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    for parameter in model.parameters():
        parameter.requires_grad = False
    try:
        with torch.no_grad():
            yield
    finally:
        for parameter in model.parameters():
            parameter.requires_grad = True
        for module, training in modes:
            module.training = training
        for handle in handles:
            handle.remove()

# %% freezes_the_parameters
# misconception: freezes the parameters instead of switching autograd off | hint: feat_freezes
# edits: eval_only
     model.eval()
+    model.requires_grad_(False)
@@
     finally:
+        model.requires_grad_(True)

# %% from_the_leaves_up
# misconception: puts modes back with train, parents last | hint: feat_one_mode_for_all
# edits: always_train
 def looking_at(model, hooks):
+    modes = {module: module.training for module in model.modules()}
@@
-        model.train()
+        model.apply(lambda module: module.train(modes[module]))

# %% hooks_after_the_block
# misconception: registers after the block | hint: feat_hooks_silent
# breaks: **Inside** the block each hook sits on its layer
# edits: children_by_name
-    handles = [getattr(model, name).register_forward_hook(hook) for name, hook in hooks.items()]
@@
     finally:
+        handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]

# %% hooks_stay
# misconception: leaves the hooks there | hint: feat_hook_left
# breaks: your hooks are gone
# edits: clears_all_hooks
-            module._forward_hooks.clear()

# %% mode_of_the_model
# misconception: remembers the model's mode only | hint: feat_one_mode_for_all
@contextmanager
def looking_at(model, hooks):
    was_training = model.training
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    try:
        with torch.no_grad():
            yield model
    finally:
        model.train(was_training)
        for handle in handles:
            handle.remove()

# %% model_itself_forgotten
# misconception: puts back all modes but the model's own | hint: feat_mode_lost
# edits: always_train
 def looking_at(model, hooks):
+    modes = {name: module.training for name, module in model.named_modules() if name}
@@
-        model.train()
+        for name, training in modes.items():
+            model.get_submodule(name).training = training

# %% modes_of_children
# misconception: remembers the direct children's modes | hint: feat_one_mode_for_all
# breaks: each module is in the mode in which it was before (they may differ)
# edits: always_train
 def looking_at(model, hooks):
+    modes = [(child, child.training) for child in model.children()]
+    mode = model.training
@@
-        model.train()
+        model.train(mode)
+        for child, training in modes:
+            child.train(training)

# %% no_decorator
# misconception: a generator without @contextmanager | hint: feat_no_context_manager
# breaks: Write the context manager `looking_at(model, hooks)`.
# edits: children_by_name
-@contextmanager
@@
-    handles = [getattr(model, name).register_forward_hook(hook) for name, hook in hooks.items()]
+    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]

# %% no_finally
# misconception: puts things back where no error comes | hint: feat_error_skips
# breaks: All this also holds if the block ends with an error
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    with torch.no_grad():
        yield
    for module, training in modes:
        module.training = training
    for handle in handles:
        handle.remove()

# %% no_grad_only
# misconception: takes no_grad for eval | hint: feat_no_grad_is_not_eval
# breaks: BatchNorm's statistics
# edits: always_train
-    model.eval()
@@
-        model.train()

# %% no_grad_without_with
# misconception: calls no_grad without entering it | hint: feat_eval_is_not_no_grad
# edits: eval_only
     model.eval()
+    torch.no_grad()

# %% one_hook_for_all_layers
# misconception: the last hook of the loop on every layer | hint: feat_hooks_silent
# edits: children_by_name
-    handles = [getattr(model, name).register_forward_hook(hook) for name, hook in hooks.items()]
+    handles = []
+    for name, hook in hooks.items():
+        handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o: hook(m, a, o)))

# %% recording_again
# misconception: switches autograd on at the end | hint: feat_grad_mode
# breaks: Autograd records again if it did before.
# edits: eval_only
     model.eval()
+    torch.set_grad_enabled(False)
@@
     finally:
+        torch.set_grad_enabled(True)

# %% recording_left_off
# misconception: leaves autograd switched off | hint: feat_grad_mode
# edits: recording_again
-        torch.set_grad_enabled(True)

# %% return_for_yield
# misconception: returns where it should yield | hint: feat_no_yield
# edits: eval_only
-        yield
+        with torch.no_grad():
+            return

# %% state_dict_put_back
# misconception: puts the buffers back instead of going to eval mode | hint: feat_no_grad_is_not_eval
# edits: no_grad_only
 def looking_at(model, hooks):
+    state = {name: value.clone() for name, value in model.state_dict().items()}
@@
     finally:
+        model.load_state_dict(state)

# %% stays_in_eval
# misconception: leaves the model in eval mode | hint: feat_mode_lost
# edits: always_train
-        model.train()

# %% swallows_the_error
# misconception: hides the error | hint: feat_error_swallowed
# breaks: the error reaches the caller
# edits: no_finally
-    with torch.no_grad():
-        yield
+    try:
+        with torch.no_grad():
+            yield
+    except Exception as error:
+        print("something went wrong:", error)

# %% works_on_a_copy
# misconception: prepares a copy of the model | hint: feat_on_a_copy
import copy


@contextmanager
def looking_at(model, hooks):
    twin = copy.deepcopy(model).eval()
    for name, hook in hooks.items():
        twin.get_submodule(name).register_forward_hook(hook)
    with torch.no_grad():
        yield twin

# %% yields_in_the_loop
# misconception: yields once for each hook | hint: feat_no_yield
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    for name, hook in hooks.items():
        handle = model.get_submodule(name).register_forward_hook(hook)
        try:
            with torch.no_grad():
                yield
        finally:
            handle.remove()
            for module, training in modes:
                module.training = training

# %% remembers_on_a_shared_list
# misconception: keeps what it remembers in one place for all blocks | hint: feat_once_only
# breaks: It can be used again, also inside a block of its own.
modes, handles = {}, []


@contextmanager
def looking_at(model, hooks):
    for module in model.modules():
        modes[module] = module.training
    for name, hook in hooks.items():
        handles.append(model.get_submodule(name).register_forward_hook(hook))
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes.items():
            module.training = training
        for handle in handles:
            handle.remove()

# %% apply_visits_twice
# misconception: remembers a shared layer's mode a second time, when it is switched already | hint: feat_shared_mode
@contextmanager
def looking_at(model, hooks):
    training, handles = {}, []

    def enter(module):
        training[module] = module.training
        module.training = False

    model.apply(enter)
    for name, hook in hooks.items():
        handles.append(model.get_submodule(name).register_forward_hook(hook))
    try:
        with torch.no_grad():
            yield
    finally:
        for module, mode in training.items():
            module.training = mode
        for handle in handles:
            handle.remove()

# %% remembers_on_the_model
# misconception: keeps the modes on the modules, where a second block overwrites them | hint: feat_once_only
@contextmanager
def looking_at(model, hooks):
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    for module in model.modules():
        module.was_training = module.training
        module.training = False
    try:
        with torch.no_grad():
            yield
    finally:
        for module in model.modules():
            module.training = module.was_training
        for handle in handles:
            handle.remove()

# %% keeps_the_last_handle
# misconception: one variable for all handles | hint: feat_hook_left
@contextmanager
def looking_at(model, hooks):
    modes, handle = [(module, module.training) for module in model.modules()], None
    for name, hook in hooks.items():
        handle = model.get_submodule(name).register_forward_hook(hook)
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training
        if handle:
            handle.remove()

# %% names_that_begin_so
# misconception: takes every layer whose name begins like the one asked for | hint: name_in_name
# edits: children_by_name
-    handles = [getattr(model, name).register_forward_hook(hook) for name, hook in hooks.items()]
+    handles = []
+    for layer, hook in hooks.items():
+        for name, module in model.named_modules():
+            if name.startswith(layer) and "." not in name[len(layer):]:
+                handles.append(module.register_forward_hook(hook))

# %% trains_those_that_trained
# misconception: puts back training mode only | hint: feat_mode_lost
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = []
    try:
        for name, hook in hooks.items():
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model.eval()
        with torch.no_grad():
            yield
    finally:
        for handle in handles:
            handle.remove()
        for module, mode in modes:
            if mode:
                module.training = True

# %% drops_the_value
# misconception: a wrapper that drops what the hook returns | hint: hook_returns_nothing
# edits: trains_those_that_trained
-            handles.append(model.get_submodule(name).register_forward_hook(hook))
+            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, hook=hook: (hook(m, a, o), None)[1]))
@@
-            if mode:
-                module.training = True
+            module.training = mode

# %% hides_a_key_error
# misconception: hides the errors that mean a missing layer | hint: feat_error_swallowed
# breaks: the error reaches the caller
# edits: drops_the_value
-            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, hook=hook: (hook(m, a, o), None)[1]))
+            handles.append(model.get_submodule(name).register_forward_hook(hook))
@@
             yield
+    except KeyError as error:
+        print("no such layer:", error)

# %% all_but_an_interrupt
# misconception: puts things back after an Exception only | hint: feat_error_skips
# breaks: All this also holds if the block ends with an error
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = []

    def undo():
        for handle in handles:
            handle.remove()
        for module, mode in modes:
            module.training = mode

    try:
        for name, hook in hooks.items():
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model.eval()
        with torch.no_grad():
            yield
    except Exception:
        undo()
        raise
    undo()

# %% puts_the_dicts_back
# misconception: puts the dicts of hooks back as they were | hint: removes_other_hooks
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = []
    before = {module: dict(module._forward_hooks) for module in model.modules()}
    try:
        for name, hook in hooks.items():
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model.eval()
        with torch.no_grad():
            yield
    finally:
        for module, old in before.items():
            module._forward_hooks.clear()
            module._forward_hooks.update(old)
        for module, mode in modes:
            module.training = mode

# %% takes_the_hooks_out
# misconception: takes the hooks out of the caller's dict | hint: feat_hooks_used_up
# breaks: It can be used again
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = []
    while hooks:
        name, hook = hooks.popitem()
        handles.append(model.get_submodule(name).register_forward_hook(hook))
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for handle in handles:
            handle.remove()
        for module, mode in modes:
            module.training = mode
