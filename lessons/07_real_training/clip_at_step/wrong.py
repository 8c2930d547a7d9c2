# nothing to break: Write `clip_at_step(optimizer, most)`.

# %% tensor_hooks
# misconception: a tensor hook on each parameter, which sees scaled gradients | hint: clip_scaled_too
# breaks: Your clipping also works with a `GradScaler`
def clip_at_step(optimizer, most):
    def hook(grad):
        norm = grad.norm()
        return grad * (most / norm) if norm > most else grad

    handles = [p.register_hook(hook) for group in optimizer.param_groups for p in group["params"]]
    return handles[0]

# %% after_the_last_gradient
# misconception: clips when the last gradient has come, before the scaler divides | hint: clip_scaled
def clip_at_step(optimizer, most):
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    there = []

    def hook(parameter):
        there.append(parameter)
        if len(there) == len(parameters):
            there.clear()
            nn.utils.clip_grad_norm_(parameters, most)

    return [p.register_post_accumulate_grad_hook(hook) for p in parameters][0]

# %% unscales_by_hand
# misconception: divides once more, by the scale that the scaler begins with | hint: clip_zeroed
# edits: partial
-    everything = (p for group in optimizer.param_groups for p in group["params"])
+    everything = [p for group in optimizer.param_groups for p in group["params"]]
+    for p in everything:
+        p.grad /= 65536.0

# %% post_hook
# misconception: a hook that runs after the step | hint: clip_not_at_all
# breaks: each step of `optimizer` first clips the norm
# edits: partial
-    handle = optimizer.register_step_pre_hook(partial(clip, most))
+    handle = optimizer.register_step_post_hook(partial(clip, most))

# %% returns_the_norm
# misconception: a lambda that returns what clip_grad_norm_ returns | hint: clip_returns_norm
# edits: object
-        torch.nn.utils.clip_grad_norm_(parameters, max_norm=self.most)
+        return torch.nn.utils.clip_grad_norm_(parameters, max_norm=self.most)

# %% one_argument
# misconception: a hook that takes the optimizer alone | hint: hook_arguments
# edits: object
-    def __call__(self, optimizer, args, kwargs):
+    def __call__(self, optimizer):

# %% by_value
# misconception: clamps each value | hint: clip_by_value
# edits: object
-        torch.nn.utils.clip_grad_norm_(parameters, max_norm=self.most)
+        torch.nn.utils.clip_grad_value_(parameters, self.most)

# %% each_parameter_alone
# misconception: the norm of each parameter by itself | hint: clip_each_alone
# breaks: the norm of all gradients together
# edits: object
-        torch.nn.utils.clip_grad_norm_(parameters, max_norm=self.most)
+        for parameter in parameters:
+            torch.nn.utils.clip_grad_norm_(parameter, max_norm=self.most)

# %% each_group_alone
# misconception: the norm of each group by itself | hint: clip_each_group
# edits: object
-            parameters += group["params"]
-        torch.nn.utils.clip_grad_norm_(parameters, max_norm=self.most)
+            torch.nn.utils.clip_grad_norm_(group["params"], max_norm=self.most)

# %% first_group
# misconception: looks at the first group only | hint: clip_first_group
# edits: partial
-    everything = (p for group in optimizer.param_groups for p in group["params"])
+    everything = optimizer.param_groups[0]["params"]

# %% optimizer_parameters
# misconception: an optimizer has no parameters() | hint: clip_parameters_of_optimizer
# edits: partial
-    everything = (p for group in optimizer.param_groups for p in group["params"])
+    everything = optimizer.parameters()

# %% gathered_at_once
# misconception: gathers the parameters when it registers, not when it clips | hint: clip_gathered_too_soon
# breaks: Parameters that are added to the optimizer later are clipped, too.
def clip_at_step(optimizer, most):
    parameters = [p for group in optimizer.param_groups for p in group["params"]]

    def hook(*_):
        nn.utils.clip_grad_norm_(parameters, most)

    return optimizer.register_step_pre_hook(hook)

# %% all_optimizers
# misconception: a hook for all optimizers | hint: clip_all_optimizers
# breaks: each step of `optimizer`
# edits: global_hook_for_one
-        if one is optimizer:
+        if True:

# %% no_handle
# misconception: returns nothing | hint: clip_no_handle
# breaks: Return a handle; its `remove()` ends the clipping.
# edits: partial
-    return handle

# %% clips_now
# misconception: clips once, when it is called | hint: clip_not_at_all | canary
# edits: no_handle
-    handle = optimizer.register_step_pre_hook(partial(clip, most))
+    return clip(most, optimizer, (), {})

# %% returns_the_optimizer
# misconception: returns the optimizer | hint: clip_no_handle
# edits: no_handle
+    return optimizer

# %% always_to_most
# misconception: brings small gradients up as well | hint: clip_always
# breaks: if the norm is larger
# edits: by_hand
-        if norm > most:
-            for grad in grads:
-                grad.mul_(most / norm)
+        for grad in grads:
+            grad.mul_(most / norm)

# %% zeroes_large_ones
# misconception: throws large gradients away | hint: clip_zeroed
# edits: by_hand
-                grad.mul_(most / norm)
+                grad.zero_()

# %% new_tensors_that_nobody_has
# misconception: multiplies into new tensors, which the parameters never get | hint: clip_not_at_all
# edits: by_hand
-                grad.mul_(most / norm)
+                grad = grad * (most / norm)

# %% remove_does_nothing
# misconception: the handle of another hook | hint: clip_never_ends
# edits: no_handle
+    return optimizer.register_step_post_hook(lambda *_: None)

# %% once
# misconception: removes itself after the first step | hint: clip_ends_too_soon
# edits: by_hand
-    return optimizer.register_step_pre_hook(hook)
+    def once(*arguments):
+        hook(*arguments)
+        handle.remove()
+
+    handle = optimizer.register_step_pre_hook(once)
+    return handle

# %% each_has_a_gradient
# misconception: takes for granted that each parameter has a gradient | hint: clip_without_gradient
def clip_at_step(optimizer, most):
    def clip(optimizer, args, kwargs):
        grads = [one.grad for group in optimizer.param_groups for one in group["params"]]
        norm = torch.stack([grad.norm() for grad in grads]).norm()
        for grad in grads:
            grad.mul_(min(1.0, most / norm.item()))

    return optimizer.register_step_pre_hook(clip)

# %% weights_for_gradients
# misconception: clamps the parameters in place of their gradients | hint: clip_not_at_all
# edits: reference
-        nn.utils.clip_grad_norm_(parameters, most)
+        for parameter in parameters:
+            parameter.data.clamp_(-most, most)
