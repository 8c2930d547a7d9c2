# %% adds_up
# misconception: adds up, as .grad does | hint: accumulated_grad
# edits: nonlocal_plus
-        nonlocal seen
-        seen += [grad.clone()]
+        seen.append(grad + seen[-1] if seen else grad.clone())

# %% bound_append
# misconception: keeps the gradient itself, whose memory autograd may go on using | hint: kept_alias
# breaks: no later pass changes an entry
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(seen.append)
    return seen

# %% detached
# misconception: keeps a detached tensor, whose memory autograd goes on using | hint: kept_alias
# edits: bound_append
-    tensor.register_hook(seen.append)
+    tensor.register_hook(lambda grad: seen.append(grad.detach()))

# %% extends
# misconception: extend: the rows one by one | hint: splits_gradient
# edits: bound_append
-    tensor.register_hook(seen.append)
+    tensor.register_hook(seen.extend)

# %% global_list
# misconception: one global list | hint: shared_list
# breaks: each call has a list of its own
seen = []


def watch_gradient(tensor):
    tensor.register_hook(lambda grad: seen.append(grad.clone()))
    return seen

# %% hooks_detached
# misconception: hooks a detached copy | hint: no_gradient_needed
# edits: bound_append
-    tensor.register_hook(seen.append)
+    tensor.detach().register_hook(seen.append)

# %% keeps_last
# misconception: replaces the content | hint: keeps_last_only
# edits: adds_up
-        seen.append(grad + seen[-1] if seen else grad.clone())
+        seen[:] = [grad]

# %% keeps_numbers
# misconception: keeps plain numbers | hint: python_number
# edits: nonlocal_plus
-        seen += [grad.clone()]
+        seen += [grad.tolist()]

# %% keeps_value
# misconception: appends the tensor | hint: keeps_the_tensor
# breaks: the gradient of `tensor` in that pass
# edits: bound_append
-    tensor.register_hook(seen.append)
+    tensor.register_hook(lambda grad: seen.append(tensor.detach()))

# %% local_list
# misconception: the hook makes a new list | hint: other_list_returned
# edits: adds_up
-        seen.append(grad + seen[-1] if seen else grad.clone())
+        seen = [grad]

# %% no_hook
# misconception: never registers | hint: hook_never_ran | canary
# edits: adds_up
-        seen.append(grad + seen[-1] if seen else grad.clone())
+        seen.append(grad)
@@
-    tensor.register_hook(hook)

# %% no_return
# misconception: does not return the list | hint: returns_no_list
# edits: bound_append
-    return seen

# %% only_once
# misconception: only if the list is empty | hint: runs_only_once
# breaks: Every later backward pass adds one entry to the list
# edits: adds_up
-        seen.append(grad + seen[-1] if seen else grad.clone())
+        if not seen:
+            seen.append(grad.clone())

# %% post_accumulate
# misconception: a post-accumulate hook | hint: post_accumulate_on_non_leaf
# breaks: for a tensor in the middle of a graph
# edits: bound_append
-    tensor.register_hook(seen.append)
+    tensor.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad))

# %% reads_dot_grad
# misconception: retain_grad, and reads .grad in the hook | hint: uses_retain_grad
# edits: bound_append
-    tensor.register_hook(seen.append)
+    tensor.retain_grad()
+    tensor.register_hook(lambda grad: seen.append(tensor.grad))

# %% returns_a_copy
# misconception: returns a copy of the list | hint: other_list_returned
# edits: no_return
+    return list(seen)

# %% runs_backward
# misconception: runs a backward pass of its own | hint: asks_too_early
# edits: bound_append
+    tensor.sum().backward(retain_graph=True)
     return seen

# %% too_early
# misconception: reads .grad at once, without a hook | hint: asks_too_early
# breaks: It returns an empty list immediately.
def watch_gradient(tensor):
    return [tensor.grad]

# %% with_retain_grad
# misconception: retain_grad beside the hook | hint: uses_retain_grad
# breaks: nothing is kept in `tensor.grad`
# edits: bound_append
     seen = []
+    tensor.retain_grad()

# %% writes_dot_grad
# misconception: puts the gradient into .grad by hand | hint: hook_writes_grad
# edits: adds_up
-        seen.append(grad + seen[-1] if seen else grad.clone())
+        tensor.grad = grad
+        seen.append(grad)

# %% zeroes
# misconception: returns zeros | hint: changes_gradient
# breaks: Only watch
# edits: adds_up
-        seen.append(grad + seen[-1] if seen else grad.clone())
+        seen.append(grad)
+        return grad * 0
