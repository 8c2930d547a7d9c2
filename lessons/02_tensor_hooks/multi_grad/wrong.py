# nothing to break: All gradients are in float32 or float64.

# %% at_once
# misconception: computes the norm at once, from .grad | hint: norm_watch_reads_grad
def watch_norm(model):
    norms = []
    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% clip_grad_norm
# misconception: lets clip_grad_norm_ tell the norm, in the hook | hint: norm_watch_reads_grad
# edits: zeros_for_none
-    parameters = [p for p in model.parameters() if p.requires_grad]
+    parameters = list(model.parameters())
@@
-        filled = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, grads)]
-        norms.append(torch.sqrt(sum(torch.sum(g * g) for g in filled)).detach())
+        norms.append(nn.utils.clip_grad_norm_(parameters, float("inf")))

# %% clips_too
# misconception: scales the gradients on the way | hint: changes_gradient
# breaks: All gradients stay as they are.
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+
+    def hook(grads):
+        there = [grad for grad in grads if grad is not None]
+        total = torch.cat([grad.flatten() for grad in there]).norm()
+        norms.append(total.item())
+        for grad in there:
+            grad.mul_(min(1.0, 1.0 / total.item()))
+
+    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)

# %% count_never_reset
# misconception: gathers squares and never starts anew | hint: norm_watch_adds_up
def watch_norm(model):
    norms, squares = [], []

    def hook(grads):
        for grad in grads:
            if grad is not None:
                squares.append((grad**2).sum().item())
        norms.append(sum(squares) ** 0.5)

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% counts_to_all
# misconception: plain hooks that wait until every parameter has come by | hint: norm_watch_waits_for_all
def watch_norm(model):
    norms, squares = [], []
    count = len(list(model.parameters()))

    def hook(grad):
        squares.append((grad**2).sum().item())
        if len(squares) == count:
            norms.append(sum(squares) ** 0.5)
            squares.clear()

    for parameter in model.parameters():
        parameter.register_hook(hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% dot_grad
# misconception: reads .grad of the parameters in the hook | hint: norm_watch_reads_grad
# edits: clip_grad_norm
-        norms.append(nn.utils.clip_grad_norm_(parameters, float("inf")))
+        norms.append(torch.cat([parameter.grad.flatten() for parameter in parameters]).norm())

# %% dot_grad_where_there
# misconception: reads .grad where there is one | hint: norm_watch_reads_grad
# edits: clip_grad_norm
-        norms.append(nn.utils.clip_grad_norm_(parameters, float("inf")))
+        there = [parameter.grad.flatten() for parameter in parameters if parameter.grad is not None]
+        norms.append(torch.cat(there).norm())

# %% extends
# misconception: all the norms, one after another | hint: norm_watch_hook_for_each
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+
+    def hook(grads):
+        norms.extend(grad.norm() for grad in grads if grad is not None)
+
+    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)

# %% frozen_in_the_list
# misconception: all parameters, the frozen ones too | hint: norm_watch_frozen
# breaks: Parameters that a pass does not reach, and frozen ones, count for nothing
# edits: extends
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())

# %% generator
# misconception: hands over the generator | hint: norm_watch_generator
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+
+    def hook(grads):
+        norms.append(torch.stack([grad.norm() for grad in grads if grad is not None]).norm())
+
+    torch.autograd.graph.register_multi_grad_hook(model.parameters(), hook)

# %% global_list
# misconception: one global list | hint: shared_list
# breaks: It returns a list at once, still empty.
# edits: frozen_in_the_list
+norms = []
+
+
 def watch_norm(model):
@@
-    norms = []
-

# %% keeps_the_last
# misconception: keeps the last number only | hint: keeps_last_only
# edits: extends
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+        norms[:] = [torch.cat([grad.flatten() for grad in grads if grad is not None]).norm()]

# %% largest_element
# misconception: the largest element | hint: norm_watch_other_norm
# edits: extends
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+        norms.append(max(grad.abs().max() for grad in grads if grad is not None))

# %% largest_norm
# misconception: the largest of the norms | hint: norm_watch_one_parameter
# edits: extends
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+        norms.append(max(grad.norm().item() for grad in grads if grad is not None))

# %% last_model_only
# misconception: removes the hook of the model before | hint: earlier_call_forgotten
handles = []


def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())

    while handles:
        handles.pop().remove()
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    handles.append(torch.autograd.graph.register_multi_grad_hook(trainable, hook))
    return norms

# %% last_parameter
# misconception: a hook on the parameter that gets its gradient last | hint: norm_watch_one_parameter
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+    first = next(model.parameters())
+    first.register_hook(lambda grad: norms.append(grad.norm()))

# %% last_post_accumulate
# misconception: the sums in .grad, once the first parameter has its own | hint: norm_watch_adds_up
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+    parameters = list(model.parameters())
+
+    def hook(parameter):
+        norms.append(torch.cat([p.grad.flatten() for p in parameters if p.grad is not None]).norm())
+
+    parameters[0].register_post_accumulate_grad_hook(hook)

# %% list_of_norms
# misconception: the norms, not put together | hint: norm_watch_not_one_number
# breaks: A Python number and a tensor without dimensions are both fine, and float32 is precise enough.
# edits: extends
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+        norms.append([grad.norm().item() for grad in grads if grad is not None])

# %% mean_of_norms
# misconception: the mean of the norms | hint: norm_watch_sum_of_norms
# edits: extends
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+        each = [grad.norm().item() for grad in grads if grad is not None]
+        norms.append(sum(each) / len(each))

# %% mode_any
# misconception: the mode that does not wait | hint: norm_watch_one_parameter
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+    torch.autograd.graph.register_multi_grad_hook(
+        list(model.parameters()), lambda grad: norms.append(grad.norm()), mode="any"
+    )

# %% module_hook
# misconception: the arguments of a module hook | hint: norm_watch_gets_a_list
# edits: extends
-    def hook(grads):
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+    def hook(module, grad_input, grad_output):
+        norms.append(torch.cat([grad.flatten() for grad in grad_input]).norm())

# %% never_registered
# misconception: defines the hook and registers it nowhere | hint: hook_never_ran
# edits: frozen_in_the_list
-    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)

# %% no_root
# misconception: forgets the root | hint: norm_watch_no_root
# breaks: This is what `clip_grad_norm_` calls the total norm
# edits: extends
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+        norms.append(sum((grad**2).sum() for grad in grads if grad is not None))

# %% none_is_a_gradient
# misconception: all parameters always have a gradient | hint: norm_watch_none
# breaks: Parameters that a pass does not reach
# edits: extends
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+        norms.append(torch.cat([grad.flatten() for grad in grads]).norm())

# %% none_is_true
# misconception: filters by truth, which a tensor of many elements does not have | hint: truth_of_tensor
# edits: extends
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+        norms.append(torch.cat([grad.flatten() for grad in grads if grad]).norm())

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
# breaks: Each later backward pass that reaches parameters of `model` adds one number to it
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+
+    def hook(grads):
+        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())
+        handle.remove()
+
+    handle = torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)

# %% returns_the_handle
# misconception: returns the handle | hint: returns_no_list
# breaks: Write `watch_norm(model)`.
# edits: never_registered
-    return norms
+    return torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)

# %% root_mean_square
# misconception: the root of the mean of the squares | hint: norm_watch_not_the_norm
# edits: a_tensor_of_a_number
-        squares = sum(grad.double().square().sum().item() for grad in grads if grad is not None)
-        norms.append(torch.tensor(squares**0.5))
+        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).pow(2).mean().sqrt())

# %% rounded
# misconception: rounds for the display | hint: norm_watch_rounded
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+
+    def hook(grads):
+        norms.append(round(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm().item(), 4))
+
+    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)

# %% shared_twice
# misconception: walks over all layers and meets a shared parameter twice | hint: norm_watch_shared_twice
# breaks: one that two layers share counts once
# edits: at_once
-    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
+    found = [p for module in model.modules() for p in module.parameters(recurse=False) if p.requires_grad]
+
+    def hook(grads):
+        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())
+
+    torch.autograd.graph.register_multi_grad_hook(found, hook)

# %% stacks_gradients
# misconception: stacks gradients of different shapes | hint: norm_watch_not_one_number
# edits: extends
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+        norms.append(torch.stack([grad for grad in grads if grad is not None]).norm())

# %% star_arguments
# misconception: one argument for each gradient | hint: norm_watch_gets_a_list
# edits: frozen_in_the_list
-    def hook(grads):
+    def hook(*grads):

# %% sum_of_norms
# misconception: norms add up | hint: norm_watch_sum_of_norms
# breaks: as if they were one long vector
# edits: extends
-        norms.extend(grad.norm() for grad in grads if grad is not None)
+        norms.append(sum(grad.norm() for grad in grads if grad is not None))

# %% zero_left_out
# misconception: a norm of zero is none | hint: drops_an_entry
def watch_norm(model):
    norms = []

    def hook(grads):
        grads = [grad for grad in grads if grad is not None]
        norm = torch.cat([grad.flatten() for grad in grads]).norm().item()
        if norm:
            norms.append(norm)

    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)
    return norms

# %% viewed_flat
# misconception: takes every gradient for contiguous | hint: hook_views_flat
# edits: a_tensor_of_a_number
-        squares = sum(grad.double().square().sum().item() for grad in grads if grad is not None)
-        norms.append(torch.tensor(squares**0.5))
+        grads = [grad for grad in grads if grad is not None]
+        norms.append(torch.cat([grad.view(-1) for grad in grads]).norm())

# %% row_by_row
# misconception: adds up row by row, and a gradient may have no rows | hint: no_dimensions
# breaks: the norm of all gradients of this pass together, as if they were one long vector
def watch_norm(model):
    norms = []

    def note(grads):
        rows = [row for grad in grads if grad is not None for row in grad]
        norms.append(sum((row.double() ** 2).sum().item() for row in rows) ** 0.5)

    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    torch.autograd.graph.register_multi_grad_hook(learning, note)
    return norms

# %% finite_only
# misconception: leaves out what is not finite | hint: drops_an_entry
# breaks: it is infinite or NaN if the gradients are
def watch_norm(model):
    norms = []
    parameters = [p for p in model.parameters() if p.requires_grad]

    def hook(grads):
        norm = torch.cat([grad.flatten() for grad in grads if grad is not None]).norm()
        if norm.isfinite():
            norms.append(norm.item())

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms

# %% in_training_only
# misconception: backward belongs to training mode | hint: training_only
# breaks: Each later backward pass that reaches parameters of `model` adds one number to it
# edits: finite_only
-        norm = torch.cat([grad.flatten() for grad in grads if grad is not None]).norm()
-        if norm.isfinite():
-            norms.append(norm.item())
+        if model.training:
+            norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm().item())

# %% global_list_cleared
# misconception: one list for all calls, emptied at each of them | hint: shared_list
everything = []


def watch_norm(model):
    everything.clear()

    def hook(grads):
        everything.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm().item())

    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)
    return everything

# %% starts_afresh
# misconception: empties all gradients, to begin afresh | hint: empties_grad
# breaks: All gradients stay as they are.
def watch_norm(model):
    model.zero_grad()
    norms = []
    torch.autograd.graph.register_multi_grad_hook(
        [p for p in model.parameters() if p.requires_grad],
        lambda grads: norms.append(nn.utils.get_total_norm([g for g in grads if g is not None])),
    )
    return norms

# %% parameters_to_vector
# misconception: a function that takes every gradient for contiguous | hint: hook_views_flat
# breaks: Each later backward pass that reaches parameters of `model` adds one number to it
# edits: in_training_only
-        if model.training:
-            norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm().item())
+        pieces = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, grads)]
+        norms.append(nn.utils.parameters_to_vector(pieces).norm().item())
