# %% always_relu
# misconception: changes by the function of the example | hint: in_place_watch_own_change
# breaks: a function that changes its argument in place
def watch_around(tensor, change):
    before, after = [], []
    tensor.register_hook(before.append)
    torch.relu_(tensor)
    tensor.register_hook(after.append)
    return before, after

# %% an_alias
# misconception: keeps a detached gradient, whose memory autograd goes on using | hint: kept_alias
# edits: always_relu
-    tensor.register_hook(before.append)
-    torch.relu_(tensor)
+    tensor.register_hook(lambda grad: before.append(grad.detach()))
+    change(tensor)

# %% both_after
# misconception: a hook finds the old value later | hint: in_place_watch_hooks_after
# breaks: the first gets the gradient of the value before the change
# edits: always_relu
+    change(tensor)
     tensor.register_hook(before.append)
-    torch.relu_(tensor)

# %% both_before
# misconception: a hook follows the tensor through the change | hint: in_place_watch_hooks_before
# breaks: the second the gradient of the value after it
# edits: always_relu
-    torch.relu_(tensor)
     tensor.register_hook(after.append)
+    change(tensor)

# %% changed_twice
# misconception: calls change once for each hook | hint: in_place_watch_changed_twice
# breaks: Call `change` once on `tensor`
# edits: both_before
-    tensor.register_hook(after.append)
     change(tensor)
+    change(tensor).register_hook(after.append)

# %% changes_a_clone
# misconception: changes a clone | hint: in_place_watch_not_changed
def watch_around(tensor, change):
    before, after = [], []
    tensor.register_hook(before.append)
    new = change(tensor.clone())
    new.register_hook(after.append)
    return before, after

# %% clone_for_before
# misconception: hooks a clone that keeps the old value | hint: in_place_watch_copy
# edits: an_alias
-    tensor.register_hook(lambda grad: before.append(grad.detach()))
+    old = tensor.clone()
+    old.register_hook(before.append)

# %% first_only
# misconception: removes the hooks after the first pass | hint: runs_only_once
# breaks: Each later backward pass adds one gradient to each
def watch_around(tensor, change):
    before, after = [], []

    def keep(where, grad):
        if not where:
            where.append(grad)

    tensor.register_hook(partial(keep, before))
    change(tensor)
    tensor.register_hook(partial(keep, after))
    return before, after

# %% keeps_values
# misconception: keeps the values instead of the gradients | hint: keeps_the_tensor
def watch_around(tensor, change):
    before, after = [], []
    old = tensor.detach().clone()
    tensor.register_hook(lambda grad: before.append(old))
    change(tensor)
    tensor.register_hook(lambda grad: after.append(tensor.detach()))
    return before, after

# %% never_changed
# misconception: forgets the change | hint: in_place_watch_not_changed | canary
# edits: always_relu
-    torch.relu_(tensor)

# %% new_gradient
# misconception: returns a changed gradient | hint: changes_gradient
# breaks: Only watch
# edits: first_only
-        if not where:
-            where.append(grad)
+        where.append(grad)
+        return grad * 0
@@
-    tensor.register_hook(partial(keep, after))
+    tensor.register_hook(lambda grad: after.append(grad))

# %% with_retain_grad
# misconception: retain_grad beside the hooks | hint: uses_retain_grad
# breaks: Only watch: `tensor.grad` stays None
# edits: always_relu
-    torch.relu_(tensor)
+    change(tensor)
+    tensor.retain_grad()

# %% no_grad_change
# misconception: hides the change from autograd | hint: in_place_watch_hidden_change
# edits: always_relu
-    torch.relu_(tensor)
+    with torch.no_grad():
+        change(tensor)

# %% one_list
# misconception: one list with two names | hint: in_place_watch_one_list
def watch_around(tensor, change):
    before = after = []
    tensor.register_hook(before.append)
    change(tensor)
    tensor.register_hook(after.append)
    return before, after

# %% reads_dot_grad
# misconception: reads .grad in the hooks | hint: reads_grad_early
def watch_around(tensor, change):
    before, after = [], []
    tensor.register_hook(lambda grad: before.append(tensor.grad))
    change(tensor)
    tensor.register_hook(lambda grad: after.append(tensor.grad))
    return before, after

# %% reads_grad
# misconception: retain_grad and .grad, at once | hint: asks_too_early
# breaks: and return two empty lists.
def watch_around(tensor, change):
    tensor.retain_grad()
    before = [tensor.grad]
    change(tensor)
    after = [tensor.grad]
    return before, after

# %% with_around_the_change
# misconception: the first hook stands in a with around the change | hint: in_place_watch_copy
# edits: never_changed
-    tensor.register_hook(before.append)
+    with tensor.register_hook(before.append):
+        change(tensor)

# %% returns_nothing
# misconception: returns nothing | hint: in_place_watch_two_lists
# breaks: Write `watch_around(tensor, change)`
# edits: changed_twice
-    change(tensor).register_hook(after.append)
-    return before, after
+    tensor.register_hook(after.append)

# %% swapped
# misconception: the lists in the order of backward | hint: in_place_watch_swapped
def watch_around(tensor, change):
    before, after = [], []
    tensor.register_hook(after.append)
    change(tensor)
    tensor.register_hook(before.append)
    return before, after

# %% uses_the_result
# misconception: hooks what change returns | hint: in_place_watch_return_value
# edits: changes_a_clone
-    new = change(tensor.clone())
+    new = change(tensor)

# %% reads_the_sum
# misconception: takes the gradient of the new value from .grad, where it adds up | hint: uses_retain_grad
def watch_around(tensor, change):
    before, after = [], []

    def hook(grad):
        before.append(grad)
        after.append(tensor.grad.clone())

    tensor.register_hook(hook)
    change(tensor)
    tensor.retain_grad()
    return before, after
