# nothing to break: You may rely on it that none of these parameters has a `.grad` when your function is called.
# nothing to break: Every parameter has at least one dimension.
# nothing to break: You may put a new sum under the old key.

# %% adds_in_bfloat16
# misconception: converts after the addition | hint: float32_sums_rounded
def accumulate_in_float32(model):
    sums, halves = {}, {}

    def hook(name, parameter):
        halves[name] += parameter.grad
        sums[name] = halves[name].float()
        parameter.grad = None

    for name, p in model.named_parameters():
        if p.requires_grad:
            sums[name] = torch.zeros_like(p, dtype=torch.float32)
            halves[name] = torch.zeros_like(p)
            p.register_post_accumulate_grad_hook(partial(hook, name))
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])

# %% argument_is_grad
# misconception: takes the argument for the gradient | hint: float32_sums_adds_the_parameter
def accumulate_in_float32(model):
    sums = {}

    def hook(name, parameter, grad):
        sums[name] += grad.float()
        parameter.grad = None

    for name, p in model.named_parameters():
        if p.requires_grad:
            sums[name] = torch.zeros_like(p, dtype=torch.float32)
            p.register_post_accumulate_grad_hook(partial(hook, name, p))
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])

# %% at_once
# misconception: adds .grad at once, where there is one | hint: float32_sums_no_hook
def accumulate_in_float32(model):
    sums = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            sums[name] = torch.zeros_like(p, dtype=torch.float32)
            if p.grad is not None:
                sums[name] += p.grad.float()
                p.grad = None
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])

# %% empties_all
# misconception: empties .grad of all parameters, the frozen ones too | hint: float32_sums_frozen
# breaks: left out, and left alone
# edits: argument_is_grad
-    def hook(name, parameter, grad):
-        sums[name] += grad.float()
-        parameter.grad = None
+    def hook(name, parameter):
+        sums[name] += parameter.grad.float()
+        for other in model.parameters():
+            other.grad = None
@@
-            p.register_post_accumulate_grad_hook(partial(hook, name, p))
+            p.register_post_accumulate_grad_hook(partial(hook, name))

# %% empties_bfloat16_only
# misconception: empties .grad in bfloat16 only | hint: float32_sums_keeps_grad
# edits: empties_all
-        sums[name] += parameter.grad.float()
-        for other in model.parameters():
-            other.grad = None
+        if parameter.dtype is torch.bfloat16:
+            sums[name] += parameter.grad.float()
+            parameter.grad = None
+        else:
+            sums[name].copy_(parameter.grad)

# %% global_dict
# misconception: one global dict | hint: float32_sums_shared
sums = {}


def accumulate_in_float32(model):
    def hook(total, parameter):
        total.add_(parameter.grad)
        parameter.grad = None

    for name, p in model.named_parameters():
        if p.requires_grad:
            sums[name] = torch.zeros_like(p, dtype=torch.float32)
            p.register_post_accumulate_grad_hook(partial(hook, sums[name]))
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])

# %% hooks_frozen
# misconception: every parameter takes a hook | hint: float32_sums_frozen
# edits: empties_all
-        for other in model.parameters():
-            other.grad = None
+        parameter.grad = None
@@
-        if p.requires_grad:
-            sums[name] = torch.zeros_like(p, dtype=torch.float32)
-            p.register_post_accumulate_grad_hook(partial(hook, name))
+        sums[name] = torch.zeros_like(p, dtype=torch.float32)
+        p.register_post_accumulate_grad_hook(partial(hook, name))

# %% keeps_grad
# misconception: adds and leaves .grad as it is | hint: float32_sums_keeps_grad
# edits: empties_all
-        for other in model.parameters():
-            other.grad = None

# %% last_model_only
# misconception: the hooks add to the dict of the last call | hint: earlier_call_forgotten
def accumulate_in_float32(model):
    global sums
    sums = {}

    def hook(name, parameter):
        sums[name] += parameter.grad.float()
        parameter.grad = None

    for name, p in model.named_parameters():
        if p.requires_grad:
            sums[name] = torch.zeros_like(p, dtype=torch.float32)
            p.register_post_accumulate_grad_hook(partial(hook, name))
    return sums

# %% last_pass_only
# misconception: the last gradient instead of the sum | hint: keeps_last_only
# breaks: each backward pass adds the gradients of this pass, finite or not, to these tensors
# edits: keeps_grad
-        sums[name] += parameter.grad.float()
+        sums[name] = parameter.grad.float()
+        parameter.grad = None

# %% late_binding
# misconception: the hooks look the loop variable up when they run | hint: fan_out_loop_variable
# edits: at_once
-            if p.grad is not None:
-                sums[name] += p.grad.float()
-                p.grad = None
+
+            def hook(parameter):
+                sums[name] += parameter.grad.float()
+                parameter.grad = None
+
+            p.register_post_accumulate_grad_hook(hook)

# %% late_binding_parameter
# misconception: the hooks read .grad of the loop's last parameter | hint: reads_grad_early
# edits: late_binding
-            def hook(parameter):
-                sums[name] += parameter.grad.float()
-                parameter.grad = None
+            def hook(parameter, name=name):
+                sums[name] += p.grad.float()
+                p.grad = None

# %% no_hook
# misconception: makes the sums and no hooks | hint: float32_sums_no_hook
# edits: hooks_frozen
-        sums[name] = torch.zeros_like(p, dtype=torch.float32)
-        p.register_post_accumulate_grad_hook(partial(hook, name))
+        if p.requires_grad:
+            sums[name] = torch.zeros_like(p, dtype=torch.float32)

# %% reads_grad_at_once
# misconception: reads .grad before there is one | hint: reads_grad_early
# breaks: the values are zeros at first
# edits: at_once
-            sums[name] = torch.zeros_like(p, dtype=torch.float32)
-            if p.grad is not None:
-                sums[name] += p.grad.float()
-                p.grad = None
+            sums[name] = p.grad.float()
+            p.grad = None

# %% reads_grad_in_tensor_hook
# misconception: reads .grad in a tensor hook | hint: reads_grad_early
# edits: keeps_grad
-    def hook(name, parameter):
-        sums[name] += parameter.grad.float()
+    def hook(name, p, grad):
+        sums[name] += p.grad.float()
@@
-            p.register_post_accumulate_grad_hook(partial(hook, name))
+            p.register_hook(partial(hook, name, p))

# %% rebinds_local
# misconception: adds to a local name | hint: float32_sums_other_tensor
# edits: argument_is_grad
-    def hook(name, parameter, grad):
-        sums[name] += grad.float()
+    def hook(total, parameter):
+        total = total + parameter.grad.float()
@@
-            p.register_post_accumulate_grad_hook(partial(hook, name, p))
+            p.register_post_accumulate_grad_hook(partial(hook, sums[name]))

# %% removes_itself
# misconception: works in the first pass only | hint: runs_only_once
# edits: last_pass_only
-    sums = {}
+    sums, handles = {}, {}
@@
-        sums[name] = parameter.grad.float()
+        if not sums[name].any():
+            sums[name] += parameter.grad.float()

# %% returns_a_copy
# misconception: returns a copy of the dict, and the hooks put new tensors into the other one | hint: float32_sums_other_tensor
# edits: last_pass_only
-        sums[name] = parameter.grad.float()
+        sums[name] = sums[name] + parameter.grad.float()
@@
-    return sums
+    return dict(sums)

# %% returns_nothing
# misconception: does not return the dict | hint: returns_nothing
# breaks: Write `accumulate_in_float32(model)`.
# edits: rebinds_local
-        total = total + parameter.grad.float()
+        total.add_(parameter.grad)
@@
-    return sums

# %% returns_the_sum
# misconception: the hook returns the sum | hint: float32_sums_returned
# edits: keeps_grad
-        sums[name] += parameter.grad.float()
+        grad = parameter.grad.float()
+        parameter.grad = None
+        return sums[name] + grad

# %% sums_for_frozen
# misconception: a sum for frozen parameters as well | hint: float32_sums_frozen
# breaks: Frozen parameters (`requires_grad` is False) are left out
# edits: hooks_frozen
-        p.register_post_accumulate_grad_hook(partial(hook, name))
+        if p.requires_grad:
+            p.register_post_accumulate_grad_hook(partial(hook, name))

# %% tensor_hook
# misconception: a tensor hook adds, and .grad fills up as well | hint: float32_sums_keeps_grad
# edits: keeps_grad
-    def hook(name, parameter):
-        sums[name] += parameter.grad.float()
+    def hook(total, grad):
+        total.add_(grad)
@@
-            p.register_post_accumulate_grad_hook(partial(hook, name))
+            p.register_hook(partial(hook, sums[name]))

# %% tensor_hook_sets_none
# misconception: a tensor hook that empties .grad before it is written | hint: float32_sums_keeps_grad
# edits: argument_is_grad
-            p.register_post_accumulate_grad_hook(partial(hook, name, p))
+            p.register_hook(partial(hook, name, p))

# %% thaws
# misconception: makes every parameter need a gradient | hint: float32_sums_frozen
# edits: hooks_frozen
     sums = {}
+    model.requires_grad_()

# %% two_arguments
# misconception: a hook with parameter and gradient | hint: hook_arguments
# edits: keeps_grad
-    def hook(name, parameter):
-        sums[name] += parameter.grad.float()
+    def hook(parameter, grad):
+        sums["all"] += grad.float()
@@
-            p.register_post_accumulate_grad_hook(partial(hook, name))
+            p.register_post_accumulate_grad_hook(hook)

# %% walks_over_modules
# misconception: names from a walk over all layers: a shared parameter has two | hint: float32_sums_shared_parameter
# breaks: as `model.named_parameters()` gives it
def accumulate_in_float32(model):
    sums = {}

    def hook(name, parameter):
        if parameter.grad is not None:
            sums[name] += parameter.grad.float()
        parameter.grad = None

    for prefix, module in model.named_modules():
        for last, p in module.named_parameters(recurse=False):
            if p.requires_grad:
                name = f"{prefix}.{last}".lstrip(".")
                sums[name] = torch.zeros_like(p, dtype=torch.float32)
                p.register_post_accumulate_grad_hook(partial(hook, name))
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])

# %% zero_grad_no_none
# misconception: model.zero_grad in the hook drops gradients that came by other hooks, and keeps zeros | hint: float32_sums_zero_is_not_none
# edits: keeps_grad
         sums[name] += parameter.grad.float()
+        model.zero_grad(set_to_none=False)

# %% zeroes
# misconception: zeroes .grad instead of dropping it | hint: float32_sums_zero_is_not_none
# breaks: After backward `.grad` is None for all these parameters
# edits: keeps_grad
         sums[name] += parameter.grad.float()
+        parameter.grad.zero_()

# %% zeros_like
# misconception: sums in the parameters' dtype | hint: float32_sums_in_bfloat16
# breaks: a float32 tensor for each parameter that requires a gradient
# edits: last_pass_only
-        sums[name] = parameter.grad.float()
+        sums[name] += parameter.grad
@@
-            sums[name] = torch.zeros_like(p, dtype=torch.float32)
+            sums[name] = torch.zeros_like(p)

# %% finite_only
# misconception: leaves out what is not finite, as a gradient scaler does | hint: repairs_the_gradient
# breaks: each backward pass adds the gradients of this pass, finite or not, to these tensors
# edits: last_model_only
-    global sums
@@
-        sums[name] += parameter.grad.float()
+        if parameter.grad.isfinite().all():
+            sums[name] += parameter.grad.float()

# %% in_training_only
# misconception: backward belongs to training mode | hint: training_only
# breaks: From then on each backward pass adds the gradients
# edits: finite_only
-        if parameter.grad.isfinite().all():
+        if model.training:

# %% zeroes_a_float32_parameter
# misconception: float() makes a copy | hint: float32_sums_in_the_parameter
# edits: last_model_only
-    global sums
@@
-            sums[name] = torch.zeros_like(p, dtype=torch.float32)
+            sums[name] = p.detach().float().zero_()

# %% filled_late
# misconception: a key appears with the first gradient | hint: float32_sums_filled_late
# breaks: and the values are zeros at first
def accumulate_in_float32(model):
    sums = {}

    def hook(parameter, name):
        sums[name] = sums.get(name, 0) + parameter.grad.float()
        parameter.grad = None

    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(partial(hook, name=name))
    return sums

# %% every_name
# misconception: a sum for each name that a shared parameter has | hint: float32_sums_shared_parameter
# breaks: as `model.named_parameters()` gives it
def accumulate_in_float32(model):
    sums = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if parameter.requires_grad:
            sums[name] = torch.zeros(parameter.shape)

            def hook(p, name=name):
                if p.grad is not None:
                    sums[name] += p.grad
                p.grad = None

            parameter.register_post_accumulate_grad_hook(hook)
    return sums
