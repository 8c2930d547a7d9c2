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

# %% empties_all
# misconception: empties .grad of all parameters, the frozen ones too | hint: float32_sums_frozen_emptied
# breaks: frozen ones stay as they are
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

# %% keeps_grad
# misconception: adds and leaves .grad as it is | hint: float32_sums_keeps_grad
# breaks: After backward `.grad` is None for these parameters
# edits: empties_all
-        for other in model.parameters():
-            other.grad = None

# %% last_pass_only
# misconception: the last gradient instead of the sum | hint: keeps_last_only
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

# %% no_hook
# misconception: makes the sums and no hooks | hint: float32_sums_no_hook | canary
# edits: keeps_grad
         sums[name] += parameter.grad.float()
+        parameter.grad = None
@@
-            p.register_post_accumulate_grad_hook(partial(hook, name))

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

# %% removes_itself
# misconception: works in the first pass only | hint: runs_only_once
# breaks: From then on each `backward()` adds its gradients to these sums
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
# breaks: It returns a dict
# edits: no_hook
-    def hook(name, parameter):
-        sums[name] += parameter.grad.float()
+    def hook(total, parameter):
+        total.add_(parameter.grad)
@@
-    return sums
+            p.register_post_accumulate_grad_hook(partial(hook, sums[name]))

# %% returns_the_sum
# misconception: the hook returns the sum | hint: float32_sums_returned
# edits: keeps_grad
-        sums[name] += parameter.grad.float()
+        grad = parameter.grad.float()
+        parameter.grad = None
+        return sums[name] + grad

# %% zero_grad_first
# misconception: empties .grad by zero_grad, which does not ask which parameters are frozen | hint: float32_sums_frozen_emptied
def accumulate_in_float32(model):
    sums = {}

    def add(name, parameter):
        sums[name] += parameter.grad.float()
        parameter.grad = None

    model.zero_grad()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            sums[name] = torch.zeros(parameter.shape)
            parameter.register_post_accumulate_grad_hook(partial(add, name))
    return sums

# %% sums_for_frozen
# misconception: a sum for frozen parameters as well | hint: float32_sums_frozen
# edits: no_hook
     for name, p in model.named_parameters():
+        sums[name] = torch.zeros_like(p, dtype=torch.float32)
@@
-            sums[name] = torch.zeros_like(p, dtype=torch.float32)
+            p.register_post_accumulate_grad_hook(partial(hook, name))

# %% tensor_hook_sets_none
# misconception: a tensor hook that empties .grad before it is written | hint: float32_sums_keeps_grad
# edits: argument_is_grad
-            p.register_post_accumulate_grad_hook(partial(hook, name, p))
+            p.register_hook(partial(hook, name, p))

# %% two_arguments
# misconception: a hook with parameter and gradient | hint: hook_arguments
# breaks: Write `accumulate_in_float32(model)`.
# edits: keeps_grad
-    def hook(name, parameter):
-        sums[name] += parameter.grad.float()
+    def hook(parameter, grad):
+        sums["all"] += grad.float()
@@
-            p.register_post_accumulate_grad_hook(partial(hook, name))
+            p.register_post_accumulate_grad_hook(hook)

# %% parameters_for_names
# misconception: the parameter itself as the key | hint: float32_sums_other_keys
# edits: last_pass_only
+            name = p
             sums[name] = torch.zeros_like(p, dtype=torch.float32)

# %% model_in_float32
# misconception: turns the model itself into float32 | hint: float32_sums_model_changed
# edits: empties_all
+    model.float()
     sums = {}

# %% zeroes
# misconception: zeroes .grad instead of dropping it | hint: float32_sums_zero_is_not_none
# edits: keeps_grad
         sums[name] += parameter.grad.float()
+        parameter.grad.zero_()

# %% zeros_like
# misconception: sums in the parameters' dtype | hint: float32_sums_in_bfloat16
# breaks: a float32 tensor of zeros for each parameter that requires a gradient
# edits: last_pass_only
-        sums[name] = parameter.grad.float()
+        sums[name] += parameter.grad
@@
-            sums[name] = torch.zeros_like(p, dtype=torch.float32)
+            sums[name] = torch.zeros_like(p)

# %% filled_late
# misconception: a key appears with the first gradient | hint: float32_sums_filled_late
def accumulate_in_float32(model):
    sums = {}

    def hook(parameter, name):
        sums[name] = sums.get(name, 0) + parameter.grad.float()
        parameter.grad = None

    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(partial(hook, name=name))
    return sums

# %% walks_over_modules
# misconception: names from a walk over all layers: a shared parameter has two | hint: float32_sums_shared_parameter
# breaks: under the parameter's name in `model.named_parameters()`
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

# %% old_grad
# misconception: what the hook finds in `.grad` came from this pass, all of it | hint: float32_sums_old_grad
# breaks: values that were in `.grad` before the call are not added
# edits: keeps_grad
         sums[name] += parameter.grad.float()
+        parameter.grad = None

# %% old_grad_moved
# misconception: an old gradient belongs to the sum | hint: float32_sums_old_grad
# edits: old_grad
-            sums[name] = torch.zeros_like(p, dtype=torch.float32)
+            sums[name] = torch.zeros_like(p, dtype=torch.float32) + (0 if p.grad is None else p.grad.float())
+            p.grad = None
