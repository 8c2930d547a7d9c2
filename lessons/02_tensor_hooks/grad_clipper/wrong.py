# %% by_norm
# misconception: scales to the norm | hint: scales_to_norm
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad * min(1.0, cap / grad.norm().item()))
    return model

# %% cap_only
# misconception: only the cap | hint: one_limit_only
# edits: by_norm
-        parameter.register_hook(lambda grad: grad * min(1.0, cap / grad.norm().item()))
+        parameter.register_hook(lambda grad: grad.clamp(max=cap))

# %% clamps_weights
# misconception: clamps the parameters | hint: changes_parameters
# edits: by_norm
-        parameter.register_hook(lambda grad: grad * min(1.0, cap / grad.norm().item()))
+        parameter.data.clamp_(floor, cap)

# %% clips_activations
# misconception: full backward hooks on modules: the gradients of inputs | hint: clips_what_flows
def grad_clipper(model, floor, cap):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else grad.clamp(floor, cap) for grad in grad_input)

    for module in model.modules():
        module.register_full_backward_hook(hook)
    return model

# %% limits_in_globals
# misconception: limits in globals | hint: limits_shared
# breaks: Another model may have limits of its own.
def grad_clipper(model, floor, cap):
    global lowest, highest
    lowest, highest = floor, cap
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(lowest, highest))
    return model

# %% limits_the_value
# misconception: the hook clamps the parameter and hands it out as the gradient | hint: keeps_the_tensor
# edits: by_norm
-        parameter.register_hook(lambda grad: grad * min(1.0, cap / grad.norm().item()))
+        parameter.register_hook(lambda grad, parameter=parameter: parameter.clamp(floor, cap))

# %% in_place
# misconception: edits the gradient in place, which another parameter gets as well | hint: edits_in_place
# breaks: clamps the gradient of each parameter
# edits: reference
-            parameter.register_hook(lambda grad: grad.clamp(floor, cap))
+            parameter.register_hook(lambda grad: grad.clamp_(floor, cap))

# %% no_return_in_hook
# misconception: the hook returns nothing | hint: hook_returns_nothing | canary
# edits: boolean_mask
-        return new

# %% post_accumulate
# misconception: clips the sum | hint: clips_accumulated
# breaks: before it is added to `.grad`
# breaks: even by `torch.autograd.grad`
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        def hook(parameter):
            parameter.grad.clamp_(floor, cap)

        parameter.register_post_accumulate_grad_hook(hook)
    return model

# %% removes_itself
# misconception: clips the first pass only | hint: runs_only_once
# breaks: After the call, each backward pass
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        handles = []

        def hook(grad, handles=handles):
            handles[0].remove()
            return grad.clamp(floor, cap)

        handles.append(parameter.register_hook(hook))
    return model

# %% returns_in_the_loop
# misconception: return inside the loop | hint: not_every_parameter
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(floor, cap))
        return model

# %% returns_none
# misconception: does not return the model | hint: returns_no_model
# breaks: which returns the model
# edits: returns_in_the_loop
-        return model

# %% swapped
# misconception: floor and cap swapped | hint: limits_swapped
# breaks: to the range from `floor` to `cap`
# edits: by_norm
-        parameter.register_hook(lambda grad: grad * min(1.0, cap / grad.norm().item()))
+        parameter.register_hook(lambda grad: grad.clamp(cap, floor))

# %% symmetric
# misconception: takes the limits to be symmetric | hint: symmetric_limits
# edits: by_norm
-        parameter.register_hook(lambda grad: grad * min(1.0, cap / grad.norm().item()))
+        parameter.register_hook(lambda grad: grad.clamp(-cap, cap))

# %% to_zero
# misconception: zeroes what lies outside | hint: zeroes_outside
# edits: by_norm
-        parameter.register_hook(lambda grad: grad * min(1.0, cap / grad.norm().item()))
+        parameter.register_hook(lambda grad: grad * ((grad >= floor) & (grad <= cap)))

# %% two_arguments
# misconception: the arguments of a module hook | hint: hook_arguments
# edits: by_norm
-        parameter.register_hook(lambda grad: grad * min(1.0, cap / grad.norm().item()))
+        parameter.register_hook(lambda module, grad: grad.clamp(floor, cap))

# %% undefined_limits
# misconception: limits that nobody defined | hint: undefined_name
# breaks: Write `grad_clipper(model, floor, cap)`
def grad_clipper(model, *val):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(lowest, highest))
    return model

# %% weights_only
# misconception: only parameters called weight | hint: not_every_parameter
# breaks: clamps the gradient of each parameter
def grad_clipper(model, floor, cap):
    for name, parameter in model.named_parameters():
        if name.endswith("weight"):
            parameter.register_hook(lambda grad: grad.clamp(floor, cap))
    return model

# %% clip_grad_value_at_once
# misconception: clips the gradients of now, of which there are none yet | hint: no_hook_on_it
def grad_clipper(model, floor, cap):
    nn.utils.clip_grad_value_(model.parameters(), cap)
    return model

# %% limits_come_first
# misconception: partial puts the limits in front of the gradient | hint: limits_come_first
# edits: by_norm
-        parameter.register_hook(lambda grad: grad * min(1.0, cap / grad.norm().item()))
+        parameter.register_hook(partial(torch.clamp, floor, cap))

# %% post_hook_that_returns
# misconception: a post-accumulate hook that returns | hint: float32_sums_returned
# edits: by_norm
-        parameter.register_hook(lambda grad: grad * min(1.0, cap / grad.norm().item()))
+        parameter.register_post_accumulate_grad_hook(lambda p: p.grad.clamp(floor, cap))

# %% frozen_too
# misconception: every parameter takes a hook, a frozen one as well | hint: clips_frozen
# breaks: Frozen parameters stay as they are.
# edits: returns_none
+    return model

# %% thaws
# misconception: thaws what takes no hook | hint: clips_frozen
# edits: frozen_too
-    for parameter in model.parameters():
+    for parameter in model.requires_grad_().parameters():
