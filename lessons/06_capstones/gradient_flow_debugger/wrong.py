# nothing to break: Where a block and its last child return the same tensor
# nothing to break: An error is an `Exception`
# nothing to break: Hooks on outputs may stay with them
# nothing to break: In the check every module runs at most once
# nothing to break: With `tensors_in` your tool works on an LSTM

# %% asks_requires_grad
# misconception: takes requires_grad for the answer | hint: gfd_unreached
@contextmanager
def gradient_flow_debugger(model):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}

    def see_gradient(name, grad):
        if report["bad_gradient"] is None and not grad.isfinite().all():
            report["bad_gradient"] = name

    def see_output(name, module, args, output):
        if report["bad_output"] is None and not output.isfinite().all():
            report["bad_output"] = name
        if isinstance(module, nn.ReLU):
            silent = (output == 0).transpose(0, 1).flatten(1).all(1)
            report["dead"][name] = silent.float().mean().item()
        if output.requires_grad:
            output.register_hook(partial(see_gradient, name))

    handles = []
    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(partial(see_output, name)))
    try:
        yield report
    finally:
        for handle in handles:
            handle.remove()
    for name, p in model.named_parameters():
        if not p.requires_grad:
            report["no_gradient"].append(name)
        elif p.grad is not None:
            report["gradient_size"][name] = p.grad.abs().mean().item()

# %% backward_only
# misconception: never looks at the outputs | hint: gfd_backward_only
# edits: asks_requires_grad
-        if report["bad_output"] is None and not output.isfinite().all():
-            report["bad_output"] = name
@@
-        if not p.requires_grad:
+        if p.grad is None:
@@
-        elif p.grad is not None:
+        else:

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

# %% bad_weights
# misconception: looks for NaN in the weights | hint: gfd_weights_for_outputs
# edits: backward_only
     for name, p in model.named_parameters():
+        if report["bad_output"] is None and not p.isfinite().all():
+            report["bad_output"] = name

# %% children_only
# misconception: hooks on the direct children only | hint: gfd_no_dead
# edits: backward_only
     def see_output(name, module, args, output):
+        if report["bad_output"] is None and not output.isfinite().all():
+            report["bad_output"] = name
@@
-    for name, module in model.named_modules():
+    for name, module in model.named_children():

# %% class_names
# misconception: class names instead of names | hint: class_or_name
# breaks: Names are those of `named_modules()`
# edits: bad_gradients_of_parameters
     def make_hook(name):
+        def backward_hook(grad):
+            if report["bad_gradient"] is None and (torch.isnan(grad).any() or torch.isinf(grad).any()):
+                report["bad_gradient"] = name
+
@@
                 report["dead"][name] = (output.detach().sum(dim=dims) == 0).float().mean().item()
+            if output.requires_grad:
+                output.register_hook(backward_hook)
@@
-        handles.append(module.register_forward_hook(make_hook(name)))
+        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))
@@
-            if report["bad_gradient"] is None and not param.grad.isfinite().all():
-                report["bad_gradient"] = name

# %% class_that_stops_at_errors
# misconception: __exit__ returns early after an error | hint: gfd_no_finally
class gradient_flow_debugger:
    def __init__(self, model):
        self.model = model

    def __enter__(self):
        self.report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
        self.handles = [m.register_forward_hook(partial(self.look, n)) for n, m in self.model.named_modules()]
        return self.report

    def look(self, name, module, args, output):
        self.first("bad_output", name, output)
        if isinstance(module, nn.ReLU):
            silent = (output == 0).transpose(0, 1).flatten(1).all(1)
            self.report["dead"][name] = silent.float().mean().item()
        if output.requires_grad:
            output.register_hook(partial(self.first, "bad_gradient", name))

    def first(self, key, name, tensor):
        if self.report[key] is None and not tensor.isfinite().all():
            self.report[key] = name

    def __exit__(self, error_type, error, traceback):
        if error_type is not None:
            return False
        for handle in self.handles:
            handle.remove()
        for name, p in self.model.named_parameters():
            if p.grad is None:
                self.report["no_gradient"].append(name)
            else:
                self.report["gradient_size"][name] = p.grad.abs().mean().item()

# %% clears_all_hooks
# misconception: clears the hook dicts of the modules | hint: removes_other_hooks
# breaks: The hooks of others are still there
# edits: class_names
-        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))
+        handles.append(module.register_forward_hook(make_hook(name)))
@@
-        for handle in handles:
-            handle.remove()
+        for module in model.modules():
+            module._forward_hooks.clear()

# %% clips_gradients
# misconception: clips the gradients that it should only watch | hint: watcher_changes_gradient
# edits: class_names
                 report["bad_gradient"] = name
+            return grad.clamp(-0.1, 0.1)
@@
-        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))
+        handles.append(module.register_forward_hook(make_hook(name)))

# %% dead_yes_or_no
# misconception: a yes or no instead of a share | hint: gfd_count_for_share
# breaks: the share of its units that are dead
# edits: children_only
-            report["dead"][name] = silent.float().mean().item()
+            report["dead"][name] = silent.any().item()
@@
-    for name, module in model.named_children():
+    for name, module in model.named_modules():

# %% decorator_forgotten
# misconception: a generator without the decorator | hint: gfd_no_context
# breaks: Write the context manager
# edits: children_only
-@contextmanager
@@
-    for name, module in model.named_children():
+    for name, module in model.named_modules():

# %% each_position_a_unit
# misconception: asks along the batch only | hint: gfd_positions_for_units
# edits: dead_yes_or_no
-            silent = (output == 0).transpose(0, 1).flatten(1).all(1)
-            report["dead"][name] = silent.any().item()
+            silent = (output == 0).all(0)
+            report["dead"][name] = silent.float().mean().item()

# %% forward_only
# misconception: looks at the outputs of forward, never at a gradient | hint: gfd_forward_only
# edits: dead_yes_or_no
-
-    def see_gradient(name, grad):
-        if report["bad_gradient"] is None and not grad.isfinite().all():
-            report["bad_gradient"] = name
@@
-            report["dead"][name] = silent.any().item()
-        if output.requires_grad:
-            output.register_hook(partial(see_gradient, name))
+            report["dead"][name] = silent.float().mean().item()

# %% full_backward_hook
# misconception: full backward hooks on all modules, which in-place ReLUs do not stand | hint: in_place_after_full_hook
# breaks: It works on any model
# edits: forward_only
     report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+
+    def see_gradient(name, module, grad_input, grad_output):
+        if report["bad_gradient"] is None and not grad_output[0].isfinite().all():
+            report["bad_gradient"] = name
@@
         handles.append(module.register_forward_hook(partial(see_output, name)))
+        handles.append(module.register_full_backward_hook(partial(see_gradient, name)))

# %% full_backward_pre_hook
# misconception: full backward pre-hooks on all modules, which in-place ReLUs do not stand | hint: in_place_after_full_hook
# edits: class_names
-        def backward_hook(grad):
-            if report["bad_gradient"] is None and (torch.isnan(grad).any() or torch.isinf(grad).any()):
-                report["bad_gradient"] = name
+        def backward_hook(module, grad_output):
+            for grad in grad_output:
+                if grad is not None and report["bad_gradient"] is None and not torch.isfinite(grad).all():
+                    report["bad_gradient"] = name
@@
-            if output.requires_grad:
-                output.register_hook(backward_hook)
-
-        return forward_hook
+        return forward_hook, backward_hook
@@
-        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))
+        forward_hook, backward_hook = make_hook(name)
+        handles.append(module.register_forward_hook(forward_hook))
+        handles.append(module.register_full_backward_pre_hook(backward_hook))

# %% gradient_of_the_input
# misconception: looks at the gradient of the module's input | hint: gfd_input_side
# edits: clips_gradients
-            return grad.clamp(-0.1, 0.1)
@@
-            if output.requires_grad:
-                output.register_hook(backward_hook)
+            if inputs[0].requires_grad:
+                inputs[0].register_hook(backward_hook)

# %% gradients_in_forward_order
# misconception: keeps the outputs with retain_grad and looks through them in the order of forward | hint: gfd_last_for_first
# breaks: in the order of the *backward* pass
# edits: forward_only
     report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+
+    outputs = {}
@@
             report["dead"][name] = silent.float().mean().item()
+        if output.requires_grad:
+            output.retain_grad()
+            outputs[name] = output
@@
             handle.remove()
+    for name, output in outputs.items():
+        if output.grad is not None and not output.grad.isfinite().all():
+            report["bad_gradient"] = name
+            break

# %% hooks_every_output
# misconception: registers on outputs that need no gradient | hint: no_gradient_needed
# edits: dead_yes_or_no
-            report["dead"][name] = silent.any().item()
-        if output.requires_grad:
-            output.register_hook(partial(see_gradient, name))
+            report["dead"][name] = silent.float().mean().item()
+        output.register_hook(partial(see_gradient, name))

# %% hooks_on_parameters
# misconception: tensor hooks on the parameters | hint: gfd_parameters_for_outputs
# edits: hooks_every_output
-        output.register_hook(partial(see_gradient, name))
@@
         handles.append(module.register_forward_hook(partial(see_output, name)))
+    for name, p in model.named_parameters():
+        if p.requires_grad:
+            handles.append(p.register_hook(partial(see_gradient, name)))

# %% hooks_stay
# misconception: never removes its hooks | hint: gfd_leaves_hooks
# edits: children_only
-    for name, module in model.named_children():
+    for name, module in model.named_modules():
@@
-    try:
-        yield report
-    finally:
-        for handle in handles:
-            handle.remove()
+    yield report

# %% keeps_last_handle
# misconception: one variable for all handles | hint: gfd_leaves_hooks
# edits: class_names
-    handles = []
@@
-        handles.append(module.register_forward_hook(make_hook(type(module).__name__)))
+        handle = module.register_forward_hook(make_hook(name))
@@
-        for handle in handles:
-            handle.remove()
+        handle.remove()

# %% lambda_returns_handle
# misconception: a hook that returns the handle, which replaces the output | hint: hook_replaces_output
# edits: hooks_every_output
-        output.register_hook(partial(see_gradient, name))
+        if output.requires_grad:
+            return output.register_hook(partial(see_gradient, name))

# %% largest
# misconception: largest instead of mean absolute value | hint: gfd_other_size
# breaks: the mean absolute value of its `.grad`
# edits: clips_gradients
-            return grad.clamp(-0.1, 0.1)
@@
-            report["gradient_size"][name] = param.grad.abs().mean().item()
+            report["gradient_size"][name] = param.grad.abs().max().item()

# %% last_gradient
# misconception: each bad gradient overwrites the one before | hint: gfd_last_for_first
# edits: children_only
-        if report["bad_gradient"] is None and not grad.isfinite().all():
+        if not grad.isfinite().all():
@@
-    for name, module in model.named_children():
+    for name, module in model.named_modules():

# %% last_output
# misconception: each bad output overwrites the one before | hint: gfd_last_for_first
# breaks: the name of the first module, in the order in which the modules *finish*
# edits: clips_gradients
-            return grad.clamp(-0.1, 0.1)
@@
-            if report["bad_output"] is None and (torch.isnan(output).any() or torch.isinf(output).any()):
+            if not torch.isfinite(output).all():

# %% last_part_of_the_name
# misconception: keeps the last part of each name | hint: dotted_name
# edits: children_only
-    for name, module in model.named_children():
-        handles.append(module.register_forward_hook(partial(see_output, name)))
+    for name, module in model.named_modules():
+        handles.append(module.register_forward_hook(partial(see_output, name.split(".")[-1])))

# %% late_binding
# misconception: hooks that look up the loop variable when they run | hint: loop_variable
# edits: lambda_returns_handle
-    def see_output(name, module, args, output):
+    def see_output(module, args, output):
@@
-            return output.register_hook(partial(see_gradient, name))
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

# %% lists_all_places
# misconception: all bad places instead of the first | hint: gfd_all_for_first
# edits: last_gradient
-    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+    report = {"bad_output": [], "bad_gradient": [], "dead": {}, "no_gradient": [], "gradient_size": {}}
@@
-            report["bad_gradient"] = name
+            report["bad_gradient"].append(name)
@@
-        if report["bad_output"] is None and not output.isfinite().all():
-            report["bad_output"] = name
+        if not output.isfinite().all():
+            report["bad_output"].append(name)

# %% mends_gradients
# misconception: replaces NaN in the gradient by 0 on the way | hint: watcher_changes_gradient
# breaks: It only looks
# edits: children_only
             report["bad_gradient"] = name
+        return torch.nan_to_num(grad)
@@
-    for name, module in model.named_children():
+    for name, module in model.named_modules():

# %% mends_outputs
# misconception: replaces NaN and infinities in the outputs | hint: watcher_changes_output
# breaks: The values of outputs and gradients are as without it
# edits: lambda_returns_handle
-            return output.register_hook(partial(see_gradient, name))
+            output.register_hook(partial(see_gradient, name))
+        return output.clamp(-1e3, 1e3).round(decimals=2)

# %% nan_by_the_sum
# misconception: takes the sum, and asks whether it is NaN | hint: gfd_nan_only
# edits: last_gradient
-        if not grad.isfinite().all():
+        if report["bad_gradient"] is None and grad.sum().isnan():
@@
-        if report["bad_output"] is None and not output.isfinite().all():
+        if report["bad_output"] is None and output.sum().isnan():

# %% nan_only
# misconception: finds NaN, not infinity | hint: gfd_nan_only
# edits: last_output
-            if report["bad_gradient"] is None and (torch.isnan(grad).any() or torch.isinf(grad).any()):
+            if report["bad_gradient"] is None and (torch.isnan(grad).any()):
@@
-            if not torch.isfinite(output).all():
+            if report["bad_output"] is None and (torch.isnan(output).any()):

# %% new_dict_at_the_end
# misconception: fills a new dict, which nobody holds | hint: gfd_filled_elsewhere
# breaks: After the block, the dict `report` has these five entries
@contextmanager
def gradient_flow_debugger(model):
    report, bad, dead = {}, {"output": None, "gradient": None}, {}
    handles = []

    def make_hook(name):
        def backward_hook(grad):
            if bad["gradient"] is None and (torch.isnan(grad).any() or torch.isinf(grad).any()):
                bad["gradient"] = name

        def forward_hook(module, inputs, output):
            if bad["output"] is None and (torch.isnan(output).any() or torch.isinf(output).any()):
                bad["output"] = name
            if isinstance(module, nn.ReLU):
                dims = [0] + list(range(2, output.dim()))
                dead[name] = (output.detach().sum(dim=dims) == 0).float().mean().item()
            if output.requires_grad:
                output.register_hook(backward_hook)

        return forward_hook

    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(make_hook(name)))

    try:
        yield report
    finally:
        for handle in handles:
            handle.remove()

    grads = dict(model.named_parameters())
    report = {
        "bad_output": bad["output"],
        "bad_gradient": bad["gradient"],
        "dead": dead,
        "no_gradient": [name for name, param in grads.items() if param.grad is None],
        "gradient_size": {n: param.grad.abs().mean().item() for n, param in grads.items() if param.grad is not None},
    }

# %% no_branch_for_none
# misconception: takes the size of a gradient that is None | hint: gfd_none_grad
# edits: asks_requires_grad
-        if not p.requires_grad:
+        report["gradient_size"][name] = p.grad.abs().mean().item()
+        if p.grad.abs().sum() == 0:
@@
-        elif p.grad is not None:
-            report["gradient_size"][name] = p.grad.abs().mean().item()

# %% norm
# misconception: norm instead of the mean absolute value | hint: gfd_other_size
# edits: mends_gradients
-        return torch.nan_to_num(grad)
@@
-            report["gradient_size"][name] = p.grad.abs().mean().item()
+            report["gradient_size"][name] = p.grad.norm().item()

# %% not_after_an_error
# misconception: removes its hooks only if all goes well | hint: gfd_no_finally
# breaks: After the block, also after an error in it, its hooks are gone
# edits: hooks_stay
     yield report
+    for handle in handles:
+        handle.remove()

# %% number_of_dead_units
# misconception: a count instead of a share | hint: gfd_count_for_share
# edits: dead_yes_or_no
-            report["dead"][name] = silent.any().item()
+            report["dead"][name] = silent.sum().item()

# %% one_position_of_many
# misconception: asks for the batch and one of the two image dimensions | hint: gfd_wrong_axis
# edits: clips_gradients
-            return grad.clamp(-0.1, 0.1)
@@
-                dims = [0] + list(range(2, output.dim()))
-                report["dead"][name] = (output.detach().sum(dim=dims) == 0).float().mean().item()
+                silent = (output == 0).all(dim=0)
+                while silent.dim() > 1:
+                    silent = silent.any(dim=-1)
+                report["dead"][name] = silent.float().mean().item()

# %% only_zeros_listed
# misconception: lists parameters whose gradient is 0, and skips those without one | hint: gfd_unreached
# edits: no_branch_for_none
-        report["gradient_size"][name] = p.grad.abs().mean().item()
-        if p.grad.abs().sum() == 0:
+        if p.grad is None:
+            continue
+        size = p.grad.abs().mean().item()
+        report["gradient_size"][name] = size
+        if size == 0:

# %% order_of_names
# misconception: collects the bad modules, then takes the first in the order of named_modules | hint: gfd_last_for_first
# edits: lists_all_places
-    report = {"bad_output": [], "bad_gradient": [], "dead": {}, "no_gradient": [], "gradient_size": {}}
+    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+
+    bad_outputs, bad_gradients = set(), set()
@@
-            report["bad_gradient"].append(name)
+            bad_gradients.add(name)
@@
-            report["bad_output"].append(name)
+            bad_outputs.add(name)
@@
             handle.remove()
+    names = [name for name, _ in model.named_modules()]
+    report["bad_output"] = next((name for name in names if name in bad_outputs), None)
+    report["bad_gradient"] = next((name for name in names if name in bad_gradients), None)

# %% reads_grad_at_the_start
# misconception: reads .grad before the block | hint: gfd_too_early
# edits: hooks_stay
-    yield report
@@
+    try:
+        yield report
+    finally:
+        for handle in handles:
+            handle.remove()

# %% relu_by_name
# misconception: knows a ReLU by its name | hint: gfd_no_dead
# edits: backward_only
-        if isinstance(module, nn.ReLU):
+        if report["bad_output"] is None and not output.isfinite().all():
+            report["bad_output"] = name
+        if "relu" in name:

# %% report_as_default_argument
# misconception: one report for all calls: a default argument | hint: shared_state
# edits: decorator_forgotten
-def gradient_flow_debugger(model):
-    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+@contextmanager
+def gradient_flow_debugger(
+    model, report={"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+):
+    report["dead"].clear()
+    report["no_gradient"].clear()
+    report["gradient_size"].clear()

# %% report_in_the_notebook
# misconception: one report for all calls: a variable of the notebook | hint: shared_state
# edits: clips_gradients
+report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+
+
 @contextmanager
@@
-    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+    report.update({"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}})
@@
-            return grad.clamp(-0.1, 0.1)

# %% returns_the_report
# misconception: returns the dict at once | hint: gfd_no_context
# edits: clears_all_hooks
-@contextmanager
@@
-    try:
-        yield report
-    finally:
-        for module in model.modules():
-            module._forward_hooks.clear()
-
@@
+    return report

# %% share_of_zeros
# misconception: counts zeros instead of units | hint: gfd_zeros_for_dead
# edits: dead_yes_or_no
-            silent = (output == 0).transpose(0, 1).flatten(1).all(1)
-            report["dead"][name] = silent.any().item()
+            report["dead"][name] = (output == 0).float().mean().item()

# %% signed_mean
# misconception: mean without absolute values | hint: gfd_signed_mean
# edits: largest
-            report["gradient_size"][name] = param.grad.abs().max().item()
+            report["gradient_size"][name] = param.grad.mean().item()

# %% silent_samples
# misconception: share of samples for which the whole layer is silent | hint: gfd_wrong_axis
# edits: one_position_of_many
-                silent = (output == 0).all(dim=0)
-                while silent.dim() > 1:
-                    silent = silent.any(dim=-1)
-                report["dead"][name] = silent.float().mean().item()
+                report["dead"][name] = (output.detach().flatten(1).sum(dim=1) == 0).float().mean().item()

# %% sizes_of_layers
# misconception: one number for each layer, under its name | hint: gfd_layers_for_parameters
# edits: norm
-    for name, p in model.named_parameters():
-        if p.grad is None:
+    for name, module in model.named_modules():
+        weight = getattr(module, "weight", None)
+        if weight is None:
+            continue
+        if weight.grad is None:
@@
-            report["gradient_size"][name] = p.grad.norm().item()
+            report["gradient_size"][name] = weight.grad.abs().mean().item()

# %% spread
# misconception: standard deviation of the gradient | hint: gfd_other_size
# edits: norm
-            report["gradient_size"][name] = p.grad.norm().item()
+            report["gradient_size"][name] = p.grad.std(correction=0).item()

# %% sums_over_units
# misconception: sums along the dimension of the units | hint: gfd_wrong_axis
# edits: each_position_a_unit
-            silent = (output == 0).all(0)
+            silent = (output == 0).all(dim=1)

# %% swallows_the_error
# misconception: an except that hides the error of the block | hint: gfd_swallows_error
# breaks: The error comes out of the block
# edits: not_after_an_error
-    yield report
+    try:
+        yield report
+    except Exception as error:
+        print("the block failed:", error)

# %% switches_gradients_on
# misconception: makes outputs of frozen layers require a gradient | hint: gfd_forces_grad
# edits: gradient_of_the_input
-            if inputs[0].requires_grad:
-                inputs[0].register_hook(backward_hook)
+            if not output.requires_grad:
+                output.requires_grad_(True)
+            output.register_hook(backward_hook)

# %% takes_the_input
# misconception: runs the model itself | hint: gfd_runs_model
def gradient_flow_debugger(model, x, target):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}

    def see_output(name, module, args, output):
        if report["bad_output"] is None and not output.isfinite().all():
            report["bad_output"] = name

    handles = [module.register_forward_hook(partial(see_output, name)) for name, module in model.named_modules()]
    F.cross_entropy(model(x), target).backward()
    for handle in handles:
        handle.remove()
    return report

# %% tensors_in_the_report
# misconception: leaves tensors in the report | hint: gfd_tensors_in_report
# breaks: All of it is plain data
# edits: dead_yes_or_no
-            report["dead"][name] = silent.any().item()
+            report["dead"][name] = silent.float().mean()
@@
-            report["gradient_size"][name] = p.grad.abs().mean().item()
+            report["gradient_size"][name] = p.grad.abs().mean()

# %% trainable_only
# misconception: looks at the trainable parameters only | hint: gfd_unused_only
# edits: clips_gradients
-            return grad.clamp(-0.1, 0.1)
@@
     for name, param in model.named_parameters():
+        if not param.requires_grad:
+            continue

# %% units_in_last_dimension
# misconception: takes the last dimension for the units | hint: gfd_wrong_axis
# edits: each_position_a_unit
-            silent = (output == 0).all(0)
+            silent = (output == 0).flatten(0, -2).all(0)

# %% zero_counts_as_none
# misconception: lists parameters whose gradient is 0 as well | hint: gfd_zero_is_not_none
# breaks: the names of the parameters whose `.grad` is `None`
# edits: trainable_only
-        if not param.requires_grad:
-            continue
-        if param.grad is None:
+        if param.grad is None or param.grad.abs().max() == 0:

# %% sorted_names
# misconception: sorts the names by the alphabet | hint: gfd_other_order
# breaks: keeps their order
# edits: share_of_zeros
-            report["dead"][name] = (output == 0).float().mean().item()
+            report["dead"][name] = (output == 0).transpose(0, 1).flatten(1).all(1).float().mean().item()
@@
-    handles = []
-    for name, module in model.named_modules():
-        handles.append(module.register_forward_hook(partial(see_output, name)))
+    handles = [m.register_forward_hook(partial(see_output, name)) for name, m in model.named_modules()]
@@
-    for name, p in model.named_parameters():
+    for name, p in sorted(model.named_parameters()):

# %% starts_from_zero
# misconception: throws away the gradients that were there before | hint: watcher_changes_gradient
# edits: sorted_names
     report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+    model.zero_grad()
@@
-    for name, p in sorted(model.named_parameters()):
+    for name, p in model.named_parameters():

# %% nearly_dead
# misconception: takes units that are nearly 0 for dead ones | hint: gfd_nearly_dead
# edits: sorted_names
-            report["dead"][name] = (output == 0).transpose(0, 1).flatten(1).all(1).float().mean().item()
+            report["dead"][name] = (output.abs() < 0.01).transpose(0, 1).flatten(1).all(1).float().mean().item()
@@
-    for name, p in sorted(model.named_parameters()):
+
+    for name, p in model.named_parameters():

# %% rounds_sizes
# misconception: rounds the sizes, for the log | hint: gfd_rounded
# edits: nearly_dead
-            report["dead"][name] = (output.abs() < 0.01).transpose(0, 1).flatten(1).all(1).float().mean().item()
+            report["dead"][name] = (output == 0).transpose(0, 1).flatten(1).all(1).float().mean().item()
@@
-            report["gradient_size"][name] = p.grad.abs().mean().item()
+            report["gradient_size"][name] = round(p.grad.abs().mean().item(), 4)

# %% not_the_model
# misconception: hooks on all modules but the model itself | hint: gfd_leaves_only
# breaks: the model itself is `''`
# edits: nearly_dead
-            report["dead"][name] = (output.abs() < 0.01).transpose(0, 1).flatten(1).all(1).float().mean().item()
+            report["dead"][name] = (output == 0).transpose(0, 1).flatten(1).all(1).float().mean().item()
@@
-    handles = [m.register_forward_hook(partial(see_output, name)) for name, m in model.named_modules()]
+    handles = [m.register_forward_hook(partial(see_output, name)) for name, m in [(n, m) for n, m in model.named_modules() if n]]

# %% forward_or_backward
# misconception: looks at the gradients only if the outputs were sound | hint: gfd_one_of_both
# edits: rounds_sizes
-            report["gradient_size"][name] = round(p.grad.abs().mean().item(), 4)
+            report["gradient_size"][name] = p.grad.abs().mean().item()
+    if report["bad_output"] is not None:
+        report["bad_gradient"] = None

# %% leaky_counts
# misconception: knows a ReLU by a part of the name of its class | hint: gfd_relu_relatives
# edits: nearly_dead
-        if isinstance(module, nn.ReLU):
-            report["dead"][name] = (output.abs() < 0.01).transpose(0, 1).flatten(1).all(1).float().mean().item()
+        if "ReLU" in type(module).__name__:
+            report["dead"][name] = (output == 0).transpose(0, 1).flatten(1).all(1).float().mean().item()

# %% eval_in_block
# misconception: switches the model to evaluation mode while it looks | hint: watcher_changes_output
# edits: starts_from_zero
-    model.zero_grad()
+    modes = [(m, m.training) for m in model.modules()]
+    model.eval()
@@
             handle.remove()
+        for m, mode in modes:
+            m.train(mode)
+

# %% first_sample_only
# misconception: looks at the first sample of the batch | hint: gfd_part_only
# edits: forward_or_backward
-        if report["bad_output"] is None and not output.isfinite().all():
+        if report["bad_output"] is None and not output[0].isfinite().all():
@@
-    if report["bad_output"] is not None:
-        report["bad_gradient"] = None

# %% training_modules_only
# misconception: hooks on modules in training mode only | hint: gfd_part_only
# edits: not_the_model
-    handles = [m.register_forward_hook(partial(see_output, name)) for name, m in [(n, m) for n, m in model.named_modules() if n]]
+    handles = [m.register_forward_hook(partial(see_output, name)) for name, m in [(n, m) for n, m in model.named_modules() if m.training]]

# %% frozen_outputs_unseen
# misconception: looks at nothing that requires no gradient | hint: gfd_part_only
# breaks: with frozen layers
@contextmanager
def gradient_flow_debugger(model):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
    shares, handles = {}, []

    def bad(t):
        return not t.isfinite().all().item()

    def back(name, grad):
        if report["bad_gradient"] is None and bad(grad):
            report["bad_gradient"] = name

    def watch(name, module, args, output):
        for t in tensors_in(output):
            if not t.requires_grad:
                continue
            if report["bad_output"] is None and bad(t):
                report["bad_output"] = name
            if t.requires_grad:
                handles.append(t.register_hook(partial(back, name)))
            if isinstance(module, nn.ReLU):
                zero = (t == 0).transpose(0, 1).flatten(1).all(1)
                shares[name] = zero.float().mean().item()

    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(partial(watch, name)))
    try:
        yield report
    finally:
        for handle in handles:
            handle.remove()
        report["dead"] = {name: shares[name] for name, _ in model.named_modules() if name in shares}
        for name, p in model.named_parameters():
            if p.grad is None:
                report["no_gradient"].append(name)
            else:
                report["gradient_size"][name] = p.grad.abs().mean().item()

# %% reverse_of_definition
# misconception: takes the reverse of the order in which the modules are defined for that of backward | hint: gfd_last_for_first
# breaks: in the order of the *backward* pass
# edits: frozen_outputs_unseen
     report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
+    seen = set()
@@
             report["bad_gradient"] = name
+        if bad(grad):
+            seen.add(name)
@@
-            if not t.requires_grad:
-                continue
@@
             handle.remove()
+        report["bad_gradient"] = next((name for name in reversed([n for n, _ in model.named_modules()]) if name in seen), None)

# %% outputs_looked_at_in_the_end
# misconception: keeps the outputs and looks at them after the block | hint: gfd_looks_late
# breaks: whose output holds a NaN or an infinity
# edits: frozen_outputs_unseen
-    shares, handles = {}, []
+    shares, handles, outputs = {}, [], []
@@
-            if not t.requires_grad:
-                continue
-            if report["bad_output"] is None and bad(t):
-                report["bad_output"] = name
+            outputs.append((name, t))
@@
             handle.remove()
+        report["bad_output"] = next((name for name, t in outputs if bad(t)), None)

# %% largest_value_only
# misconception: looks at the largest value only | hint: gfd_nan_only
# breaks: whose output holds a NaN or an infinity
# edits: frozen_outputs_unseen
-        return not t.isfinite().all().item()
+        return not t.max().isfinite().item()
@@
-            if not t.requires_grad:
-                continue

# %% sum_overflows
# misconception: asks whether the sum is finite | hint: gfd_finite_is_bad
# breaks: whose output holds a NaN or an infinity
# edits: largest_value_only
-        return not t.max().isfinite().item()
+        return not t.sum().isfinite().item()

# %% not_larger_than_zero
# misconception: dead is what is never larger than 0 | hint: gfd_nan_is_not_zero
# breaks: the share of its units that are dead
# edits: frozen_outputs_unseen
-            if not t.requires_grad:
-                continue
@@
-                zero = (t == 0).transpose(0, 1).flatten(1).all(1)
+                zero = (~(t > 0)).transpose(0, 1).flatten(1).all(1)

# %% tiny_is_dead
# misconception: takes a very small number for 0 | hint: gfd_nearly_dead
# breaks: the share of its units that are dead
# edits: not_larger_than_zero
-                zero = (~(t > 0)).transpose(0, 1).flatten(1).all(1)
+                zero = (t.abs() < 1e-8).transpose(0, 1).flatten(1).all(1)

# %% frozen_in_neither
# misconception: leaves out frozen parameters that have a gradient | hint: gfd_unused_only
# breaks: the mean absolute value of its `.grad`
# edits: frozen_outputs_unseen
-            if not t.requires_grad:
-                continue
@@
-            else:
+            elif p.requires_grad:

# %% dead_units_looked_at_in_the_end
# misconception: keeps the outputs and looks at them when the block is over | hint: gfd_looks_late
# breaks: with functions between its modules
@contextmanager
def gradient_flow_debugger(model):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
    outputs, handles = {}, []

    def look(name, module, args, output):
        if isinstance(module, nn.ReLU):
            outputs[name] = output.detach()
        if report["bad_output"] is None and not output.isfinite().all():
            report["bad_output"] = name
        if output.requires_grad:
            output.register_hook(partial(look_back, name))

    def look_back(name, grad):
        if report["bad_gradient"] is None and not grad.isfinite().all():
            report["bad_gradient"] = name

    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(partial(look, name)))
    try:
        yield report
    finally:
        for handle in handles:
            handle.remove()
        for name, output in outputs.items():
            units = output.transpose(0, 1).flatten(1)
            report["dead"][name] = (units == 0).all(1).float().mean().item()
        for name, p in model.named_parameters():
            if p.grad is None:
                report["no_gradient"].append(name)
            else:
                report["gradient_size"][name] = p.grad.abs().mean().item()

# %% four_dimensions_or_two
# misconception: knows pictures and rows, and takes signals (N, C, L) for rows | hint: gfd_positions_for_units
# breaks: the share of its units that are dead
# edits: dead_units_looked_at_in_the_end
-    outputs, handles = {}, []
+    handles = []
@@
-            outputs[name] = output.detach()
+            zero = output == 0
+            dead = zero.all(3).all(2).all(0) if output.dim() == 4 else zero.all(0)
+            report["dead"][name] = dead.float().mean().item()
@@
-        for name, output in outputs.items():
-            units = output.transpose(0, 1).flatten(1)
-            report["dead"][name] = (units == 0).all(1).float().mean().item()

# %% puts_back_the_hooks_of_the_beginning
# misconception: puts back the hooks of the beginning, without those that came in the block | hint: removes_other_hooks
# breaks: The hooks of others are still there, also those that were registered in the block
# edits: four_dimensions_or_two
-    handles = []
+    before = {module: dict(module._forward_hooks) for module in model.modules()}
@@
-            zero = output == 0
-            dead = zero.all(3).all(2).all(0) if output.dim() == 4 else zero.all(0)
-            report["dead"][name] = dead.float().mean().item()
+            zero = (output == 0).transpose(0, 1).flatten(1).all(1)
+            report["dead"][name] = zero.float().mean().item()
@@
-        handles.append(module.register_forward_hook(partial(look, name)))
+        module.register_forward_hook(partial(look, name))
@@
-        for handle in handles:
-            handle.remove()
+        for module, hooks in before.items():
+            module._forward_hooks.clear()
+            module._forward_hooks.update(hooks)

# %% names_on_the_modules
# misconception: writes its name onto each module | hint: tool_attributes_left
# breaks: it leaves no attribute on the model
# edits: four_dimensions_or_two
-    def look(name, module, args, output):
+    def look(module, args, output):
+        name = module.flow_name
@@
-            zero = output == 0
-            dead = zero.all(3).all(2).all(0) if output.dim() == 4 else zero.all(0)
-            report["dead"][name] = dead.float().mean().item()
+            zero = (output == 0).transpose(0, 1).flatten(1).all(1)
+            report["dead"][name] = zero.float().mean().item()
@@
-        handles.append(module.register_forward_hook(partial(look, name)))
+        module.flow_name = name
+        handles.append(module.register_forward_hook(look))

# %% gradients_of_the_end
# misconception: lets autograd keep the gradients of the outputs, which are those of what a function in place has made of them | hint: gfd_looks_late
# breaks: with functions between its modules
# edits: outputs_looked_at_in_the_end
-    def back(name, grad):
-        if report["bad_gradient"] is None and bad(grad):
-            report["bad_gradient"] = name
-
@@
-            outputs.append((name, t))
+            if report["bad_output"] is None and bad(t):
+                report["bad_output"] = name
@@
-                handles.append(t.register_hook(partial(back, name)))
+                t.retain_grad()
+                outputs.append((name, t))
@@
-        report["bad_output"] = next((name for name, t in outputs if bad(t)), None)
+        gradients = [(name, t.grad) for name, t in reversed(outputs) if t.grad is not None]
+        report["bad_gradient"] = next((name for name, grad in gradients if bad(grad)), None)

# %% layers_with_parameters_only
# misconception: listens only to the gradients of layers that have parameters of their own | hint: gfd_parameters_for_outputs
# breaks: whose output gets a gradient that holds a NaN or an infinity
# edits: frozen_in_neither
-            if t.requires_grad:
+            if t.requires_grad and list(module.parameters(recurse=False)):
@@
-            elif p.requires_grad:
+            else:

# %% only_where_units_are_dead
# misconception: reports only ReLUs that have dead units | hint: gfd_healthy_left_out
# breaks: name of each `nn.ReLU`
# edits: not_larger_than_zero
-    shares, handles = {}, []
+    handles = []
@@
-                zero = (~(t > 0)).transpose(0, 1).flatten(1).all(1)
-                shares[name] = zero.float().mean().item()
+                zero = (t == 0).transpose(0, 1).flatten(1).all(1)
+                if zero.any():
+                    report["dead"][name] = zero.float().mean().item()
@@
-        report["dead"] = {name: shares[name] for name, _ in model.named_modules() if name in shares}

# %% skips_frozen_layers
# misconception: listens to layers that are trained only | hint: gfd_frozen_unheard
# breaks: with frozen layers
@contextmanager
def gradient_flow_debugger(model):
    """Watch a forward and a backward pass of `model` in the block; the yielded dict tells what went wrong where."""
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}

    def backward(name, grad):
        if report["bad_gradient"] is None and not grad.isfinite().all():
            report["bad_gradient"] = name

    def forward(name, module, args, output):
        if isinstance(module, nn.ReLU):
            dead = (output == 0).transpose(0, 1).flatten(1).all(1)
            report["dead"][name] = dead.float().mean().item()
        for tensor in tensors_in(output):
            if report["bad_output"] is None and not tensor.isfinite().all():
                report["bad_output"] = name
            if tensor.requires_grad and all(p.requires_grad for p in module.parameters()):
                tensor.register_hook(partial(backward, name))

    handles = [module.register_forward_hook(partial(forward, name)) for name, module in model.named_modules()]
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

# %% the_empty_name_is_false
# misconception: takes the name '' for no name, and overwrites it | hint: gfd_own_name_is_nothing
# breaks: the model itself is `''`
# edits: skips_frozen_layers
-        if report["bad_gradient"] is None and not grad.isfinite().all():
-            report["bad_gradient"] = name
+        if not grad.isfinite().all():
+            report["bad_gradient"] = report["bad_gradient"] or name
@@
-            if tensor.requires_grad and all(p.requires_grad for p in module.parameters()):
+            if tensor.requires_grad:

# %% pops_the_newest_hook
# misconception: removes the newest hook of each module, which may be somebody else's | hint: removes_other_hooks
# breaks: also those that were registered in the block
# edits: skips_frozen_layers
-            if tensor.requires_grad and all(p.requires_grad for p in module.parameters()):
+            if tensor.requires_grad:
@@
-    handles = [module.register_forward_hook(partial(forward, name)) for name, module in model.named_modules()]
+    for name, module in model.named_modules():
+        module.register_forward_hook(partial(forward, name))
@@
-        for handle in handles:
-            handle.remove()
+        for module in model.modules():
+            module._forward_hooks.popitem()
