# nothing to break: Write the context manager
# nothing to break: In the checks each module returns one tensor
# nothing to break: For other models, `tensors_in(output)` looks into tuples, lists and dicts
# nothing to break: either name is right

# %% bad_gradients_of_parameters
# misconception: looks for NaN in the gradients of the parameters | hint: gfd_parameters_for_outputs
@contextmanager
def gradient_flow_debugger(model):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
    handles = []

    def make_hook(name):
        def forward_hook(module, inputs, output):
            if report["bad_output"] is None and (torch.isnan(output).any() or torch.isinf(output).any()):
                report["bad_output"] = name
            if isinstance(module, nn.ReLU):
                dims = [0] + list(range(2, output.dim()))
                report["dead"][name] = (output.detach().sum(dim=dims) == 0).float().mean().item()

        return forward_hook

    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(make_hook(name)))

    try:
        yield report
    finally:
        for handle in handles:
            handle.remove()

    for name, param in model.named_parameters():
        if param.grad is None:
            report["no_gradient"].append(name)
        else:
            if report["bad_gradient"] is None and not param.grad.isfinite().all():
                report["bad_gradient"] = name
            report["gradient_size"][name] = param.grad.abs().mean().item()

# %% forward_only
# misconception: looks at the outputs of forward, never at a gradient | hint: gfd_forward_only
@contextmanager
def gradient_flow_debugger(model):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}

    def see_output(name, module, args, output):
        if report["bad_output"] is None and not output.isfinite().all():
            report["bad_output"] = name
        if isinstance(module, nn.ReLU):
            silent = (output == 0).transpose(0, 1).flatten(1).all(1)
            report["dead"][name] = silent.float().mean().item()

    handles = []
    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(partial(see_output, name)))
    try:
        yield report
    finally:
        for handle in handles:
            handle.remove()
    for name, p in model.named_parameters():
        if p.grad is None:
            report["no_gradient"].append(name)
        else:
            report["gradient_size"][name] = p.grad.abs().mean().item()

# %% gradient_of_the_input
# misconception: looks at the gradient of the module's input | hint: gfd_input_side
# breaks: the first module, in *backward*, with NaN or infinity in the gradient with respect to its output
# edits: bad_gradients_of_parameters
+        def backward_hook(grad):
+            if report["bad_gradient"] is None and (torch.isnan(grad).any() or torch.isinf(grad).any()):
+                report["bad_gradient"] = name
+
         def forward_hook(module, inputs, output):
@@
                 report["dead"][name] = (output.detach().sum(dim=dims) == 0).float().mean().item()
+            if inputs[0].requires_grad:
+                inputs[0].register_hook(backward_hook)
@@
-            if report["bad_gradient"] is None and not param.grad.isfinite().all():
-                report["bad_gradient"] = name

# %% class_names
# misconception: class names instead of names | hint: class_or_name | canary
# edits: gradient_of_the_input
-            if inputs[0].requires_grad:
-                inputs[0].register_hook(backward_hook)
+            output = output.clone()
+            if output.requires_grad:
+                output.register_hook(backward_hook)
+            return output
@@
-        handles.append(module.register_forward_hook(make_hook(name)))
+        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))

# %% clears_all_hooks
# misconception: clears the hook dicts of the modules | hint: removes_other_hooks
# breaks: changes nothing in the model
# edits: class_names
-        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))
+        handles.append(module.register_forward_hook(make_hook(name)))
@@
-        for handle in handles:
-            handle.remove()
+        for module in model.modules():
+            module._forward_hooks.clear()

# %% hooks_every_output
# misconception: registers on outputs that need no gradient | hint: no_gradient_needed
# edits: forward_only
     report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+
+    def see_gradient(name, grad):
+        if report["bad_gradient"] is None and not grad.isfinite().all():
+            report["bad_gradient"] = name
@@
             report["dead"][name] = silent.float().mean().item()
+        output = output.clone()
+        output.register_hook(partial(see_gradient, name))
+        return output

# %% last_output
# misconception: each bad output overwrites the one before | hint: gfd_last_for_first
# breaks: the first module to *finish*
# edits: class_names
-            if report["bad_output"] is None and (torch.isnan(output).any() or torch.isinf(output).any()):
+            if not torch.isfinite(output).all():
@@
-        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))
+        handles.append(module.register_forward_hook(make_hook(name)))

# %% late_binding
# misconception: hooks that look up the loop variable when they run | hint: loop_variable
# edits: hooks_every_output
-    def see_output(name, module, args, output):
+    def see_output(module, args, output):
@@
-        output.register_hook(partial(see_gradient, name))
+        if output.requires_grad:
+            output.register_hook(lambda grad: see_gradient(name, grad))
@@
-        handles.append(module.register_forward_hook(partial(see_output, name)))
+        handles.append(module.register_forward_hook(see_output))

# %% leaves_only
# misconception: hooks on modules without children only | hint: gfd_leaves_only
# edits: class_names
-        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))
+        if len(list(module.children())) > 0:
+            continue
+        handles.append(module.register_forward_hook(make_hook(name)))

# %% relu_in_the_class_name
# misconception: a LeakyReLU is a ReLU | hint: gfd_dead_others
# edits: class_names
-            if isinstance(module, nn.ReLU):
+            if "ReLU" in type(module).__name__:
@@
-        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))
+        handles.append(module.register_forward_hook(make_hook(name)))

# %% mends_gradients
# misconception: replaces NaN in the gradient by 0 on the way | hint: watcher_changes_gradient
# breaks: changes nothing in the model
# edits: hooks_every_output
             report["bad_gradient"] = name
+        return torch.nan_to_num(grad)
@@
-        output.register_hook(partial(see_gradient, name))
+        if output.requires_grad:
+            output.register_hook(partial(see_gradient, name))

# %% backward_only
# misconception: never looks at the outputs | hint: gfd_backward_only
# edits: mends_gradients
-        return torch.nan_to_num(grad)
@@
-        if report["bad_output"] is None and not output.isfinite().all():
-            report["bad_output"] = name

# %% children_only
# misconception: hooks on the direct children only | hint: gfd_no_dead
# edits: mends_gradients
-        return torch.nan_to_num(grad)
@@
-    for name, module in model.named_modules():
+    for name, module in model.named_children():

# %% training_mode_first
# misconception: puts the model into training mode, as before a training step | hint: changes_mode
# breaks: changes nothing in the model
# edits: mends_gradients
     report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+    model.train()
@@
-        return torch.nan_to_num(grad)

# %% each_position_a_unit
# misconception: asks along the batch only | hint: gfd_positions_for_units
# edits: mends_gradients
-        return torch.nan_to_num(grad)
@@
-            silent = (output == 0).transpose(0, 1).flatten(1).all(1)
+            silent = (output == 0).all(0)

# %% hooks_stay
# misconception: never removes its hooks | hint: gfd_leaves_hooks
# edits: mends_gradients
-        return torch.nan_to_num(grad)
@@
-    try:
-        yield report
-    finally:
-        for handle in handles:
-            handle.remove()
+    yield report

# %% nan_only
# misconception: finds NaN, not infinity | hint: gfd_nan_only
# edits: last_output
-            if report["bad_gradient"] is None and (torch.isnan(grad).any() or torch.isinf(grad).any()):
+            if report["bad_gradient"] is None and (torch.isnan(grad).any()):
@@
-            if not torch.isfinite(output).all():
+            if report["bad_output"] is None and (torch.isnan(output).any()):

# %% tests_the_sum
# misconception: tests the sum of an output | hint: gfd_sum_overflows
# edits: last_output
-            if not torch.isfinite(output).all():
+            if report["bad_output"] is None and not output.sum().isfinite():

# %% norm
# misconception: norm instead of the mean absolute value | hint: gfd_other_size
# edits: mends_gradients
-        return torch.nan_to_num(grad)
@@
-            report["gradient_size"][name] = p.grad.abs().mean().item()
+            report["gradient_size"][name] = p.grad.norm().item()

# %% no_branch_for_none
# misconception: takes the size of a gradient that is None | hint: gfd_none_grad
# edits: norm
-        if p.grad is None:
+        report["gradient_size"][name] = p.grad.abs().mean().item()
+        if p.grad.abs().sum() == 0:
@@
-        else:
-            report["gradient_size"][name] = p.grad.norm().item()

# %% asks_requires_grad
# misconception: takes requires_grad for the answer | hint: gfd_unreached
# edits: no_branch_for_none
-        report["gradient_size"][name] = p.grad.abs().mean().item()
-        if p.grad.abs().sum() == 0:
+        if not p.requires_grad:
@@
+        elif p.grad is not None:
+            report["gradient_size"][name] = p.grad.abs().mean().item()

# %% not_after_an_error
# misconception: removes its hooks only if all goes well | hint: gfd_no_finally
# breaks: leaves none of its hooks on the model, even after an error
# edits: hooks_stay
     yield report
+    for handle in handles:
+        handle.remove()

# %% share_of_zeros
# misconception: counts zeros instead of units | hint: gfd_zeros_for_dead
# edits: each_position_a_unit
-            silent = (output == 0).all(0)
-            report["dead"][name] = silent.float().mean().item()
+            report["dead"][name] = (output == 0).float().mean().item()

# %% prints_the_error
# misconception: catches the error and prints it | hint: feat_error_swallowed
# edits: reference
+    except Exception as error:
+        print("the block has failed:", error)
     finally:
@@
-    if not called:
-        raise RuntimeError("no hook was called: has this model run?")

# %% signed_mean
# misconception: takes the absolute value of the mean | hint: gfd_signed_mean
# edits: class_names
-        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))
+        handles.append(module.register_forward_hook(make_hook(name)))
@@
-            report["gradient_size"][name] = param.grad.abs().mean().item()
+            report["gradient_size"][name] = param.grad.mean().abs().item()

# %% sums_over_units
# misconception: sums along the dimension of the units | hint: gfd_wrong_axis
# edits: each_position_a_unit
-            silent = (output == 0).all(0)
+            silent = (output == 0).all(dim=1)

# %% tensors_in_the_report
# misconception: leaves tensors in the report | hint: gfd_tensors_in_report
# breaks: plain data
# edits: norm
-            report["dead"][name] = silent.float().mean().item()
+            report["dead"][name] = silent.float().mean()
@@
-            report["gradient_size"][name] = p.grad.norm().item()
+            report["gradient_size"][name] = p.grad.abs().mean()

# %% zero_counts_as_none
# misconception: lists parameters whose gradient is 0 as well | hint: gfd_zero_is_not_none
# edits: class_names
-        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))
+        handles.append(module.register_forward_hook(make_hook(name)))
@@
-        if param.grad is None:
+        if param.grad is None or param.grad.abs().max() == 0:

# %% clears_gradients
# misconception: begins with zero_grad(), as a training step does | hint: cam_fills_grad
# breaks: changes nothing in the model
# edits: mends_gradients
     report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+    model.zero_grad()
@@
-        return torch.nan_to_num(grad)

# %% hooks_on_the_view
# misconception: hooks the output itself, a view of which loses its hook | hint: in_place_view
# edits: reference
-        if isinstance(output, torch.Tensor):
-            output = output.clone()  # a hook would get lost on a view, and stay on a leaf
