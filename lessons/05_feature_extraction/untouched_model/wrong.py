# %% always_train
# misconception: switches to training mode at the end | hint: feat_one_mode_for_all | canary
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
# edits: always_train
+    norms = [(m, m.training) for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
     handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
-    model.eval()
+    for norm, _ in norms:
+        norm.eval()
@@
-        model.train()
+        for norm, training in norms:
+            norm.training = training

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

# %% clears_all_hooks
# misconception: empties the dicts of hooks | hint: removes_other_hooks
# breaks: other people's hooks are still there
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

# %% freezes_the_parameters
# misconception: freezes the parameters instead of switching autograd off | hint: feat_freezes
# edits: eval_only
     model.eval()
+    model.requires_grad_(False)
@@
     finally:
+        model.requires_grad_(True)

# %% hooks_after_the_block
# misconception: registers after the block | hint: feat_hooks_silent
# breaks: **Inside** the `with` block, each hook is on its layer
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
# breaks: each module has its old mode
# edits: always_train
 def looking_at(model, hooks):
+    was_training = model.training
@@
-            yield
+            yield model
     finally:
-        model.train()
+        model.train(was_training)

# %% no_decorator
# misconception: a generator without @contextmanager | hint: feat_no_context_manager
# breaks: Write the context manager `looking_at(model, hooks)`
# edits: children_by_name
-@contextmanager
@@
-    handles = [getattr(model, name).register_forward_hook(hook) for name, hook in hooks.items()]
+    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]

# %% no_finally
# misconception: puts things back where no error comes | hint: feat_error_skips
# breaks: or the `with` block ends with an error
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

# %% recording_left_off
# misconception: leaves autograd switched off | hint: feat_grad_mode
# edits: eval_only
     model.eval()
+    torch.set_grad_enabled(False)

# %% recording_left_on
# misconception: switches autograd on at the end, also where it was off | hint: feat_grad_mode
# breaks: autograd its old state
# edits: recording_left_off
+        torch.set_grad_enabled(True)
         for module, training in modes:

# %% stays_in_eval
# misconception: leaves the model in eval mode | hint: feat_mode_lost
# edits: always_train
-        model.train()

# %% no_grad_only
# misconception: takes no_grad for eval | hint: feat_no_grad_is_not_eval
# breaks: every module is in eval mode
# edits: stays_in_eval
-    model.eval()

# %% all_but_the_model
# misconception: puts the modes of the parts back, and forgets that of the model | hint: feat_some_modules_only
# edits: exit_stack
-        for module, mode in modes.items():
+        for module, mode in list(modes.items())[1:]:

# %% swallows_the_error
# misconception: hides the error | hint: feat_error_swallowed
# breaks: the caller gets that error
# edits: no_finally
-    with torch.no_grad():
-        yield
+    try:
+        with torch.no_grad():
+            yield
+    except Exception as error:
+        print("something went wrong:", error)

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

# %% from_the_top_down
# misconception: calls train() on one module after the other, parents first: a module in two places gets its other parent's mode | hint: feat_one_mode_for_all
# breaks: each module has its old mode
# edits: inference_mode
-            module.training = mode
+            module.train(mode)

# %% from_below
# misconception: calls train() on one module after the other, children first | hint: feat_one_mode_for_all
# edits: from_the_top_down
-        for module, mode in before:
+        for module, mode in reversed(before):

# %% eval_before_the_hooks
# misconception: changes the modes before the block that puts them back | hint: feat_error_skips
# breaks: All this holds even if a layer name is misspelt
# edits: those_that_train
     learning = [module for module in model.modules() if module.training]
+    model.eval()
@@
-        model.eval()

# %% registers_before_try
# misconception: registers hooks where nothing takes them off if the next name is misspelt | hint: feat_error_skips
# edits: children_by_name
-    handles = [getattr(model, name).register_forward_hook(hook) for name, hook in hooks.items()]
+    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
