# %% at_once
# misconception: computes the norm at once, from .grad | hint: norm_watch_reads_grad
def watch_norm(model):
    norms = []
    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
    return norms

# %% clip_grad_norm
# misconception: lets clip_grad_norm_ tell the norm, in the hook | hint: norm_watch_reads_grad
# edits: zeros_for_none
-    parameters = [p for p in model.parameters() if p.requires_grad]
+    parameters = list(model.parameters())
@@
-        filled = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, grads)]
-        norms.append(torch.sqrt(sum(torch.sum(g * g) for g in filled)).detach())
+        norms.append(nn.utils.clip_grad_norm_(parameters, float("inf")))

# %% frozen_in_the_list
# misconception: all parameters, the frozen ones too | hint: norm_watch_frozen
# breaks: Parameters that are frozen
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms

# %% shared_twice
# misconception: walks over the layers, and meets a parameter that two of them share twice | hint: norm_watch_not_the_norm
# breaks: the norm of all gradients of this pass together
# edits: frozen_in_the_list
-    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
+    found = [p for module in model.modules() for p in module.parameters(recurse=False) if p.requires_grad]
+    torch.autograd.graph.register_multi_grad_hook(found, hook)

# %% global_list
# misconception: one global list | hint: shared_list
# breaks: It returns an empty list immediately.
# edits: frozen_in_the_list
+norms = []
+
+
 def watch_norm(model):
-    norms = []
-

# %% keeps_the_last
# misconception: keeps the last number only | hint: keeps_last_only
# edits: frozen_in_the_list
-        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())
+        norms[:] = [torch.cat([grad.flatten() for grad in grads if grad is not None]).norm()]

# %% last_parameter
# misconception: a hook on the parameter that gets its gradient last | hint: norm_watch_one_parameter
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+    first = next(model.parameters())
+    first.register_hook(lambda grad: norms.append(grad.norm()))

# %% list_of_norms
# misconception: the norms, not put together | hint: norm_watch_not_one_number
# edits: frozen_in_the_list
-        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())
+        norms.append([grad.norm().item() for grad in grads if grad is not None])

# %% largest
# misconception: the largest of the norms | hint: norm_watch_one_parameter
# edits: frozen_in_the_list
-        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())
+        norms.append(max(grad.norm() for grad in grads if grad is not None))

# %% mode_any
# misconception: the mode that does not wait | hint: norm_watch_one_parameter
def watch_norm(model):
    norms = []
    torch.autograd.graph.register_multi_grad_hook(
        list(model.parameters()), lambda grad: norms.append(grad.norm()), mode="any"
    )
    return norms

# %% never_registered
# misconception: defines the hook and registers it nowhere | hint: hook_never_ran | canary
# edits: frozen_in_the_list
-    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)

# %% no_root
# misconception: forgets the root | hint: norm_watch_no_root
# edits: frozen_in_the_list
-        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())
+        norms.append(sum((grad**2).sum() for grad in grads if grad is not None))

# %% none_is_a_gradient
# misconception: all parameters always have a gradient | hint: norm_watch_none
# breaks: or that a pass does not reach
# edits: never_registered
-        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())
+        norms.append(torch.cat([grad.flatten() for grad in grads]).norm())
 
+    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)

# %% one_gradient
# misconception: takes the argument for one gradient | hint: norm_watch_gets_a_list
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), lambda grad: norms.append(grad.norm()))

# %% plain_hooks
# misconception: a plain hook on each parameter | hint: norm_watch_hook_for_each
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+    for parameter in model.parameters():
+        parameter.register_hook(lambda grad: norms.append(grad.norm()))

# %% removes_itself
# misconception: the hook removes itself after the first pass | hint: runs_only_once
# breaks: Each later `backward()` through the model adds one number to the list
# edits: frozen_in_the_list
+        handle.remove()
 
-    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
+    handle = torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)

# %% returns_the_handle
# misconception: returns the handle | hint: returns_no_list
# breaks: Write `watch_norm(model)`.
# edits: never_registered
-    return norms
+    return torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)

# %% star_arguments
# misconception: one argument for each gradient | hint: norm_watch_gets_a_list
# edits: frozen_in_the_list
-    def hook(grads):
+    def hook(*grads):

# %% sum_of_norms
# misconception: norms add up | hint: norm_watch_sum_of_norms
# breaks: as if they were one long vector
# edits: frozen_in_the_list
-        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())
+        norms.append(sum(grad.norm() for grad in grads if grad is not None))
