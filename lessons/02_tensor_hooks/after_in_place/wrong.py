# %% always_relu
# misconception: changes by the function of the example | hint: in_place_watch_own_change
# breaks: `change` is a function that changes its argument in place
# edits: multi_grad_hooks
-    register = torch.autograd.graph.register_multi_grad_hook
-    register([tensor], before.append, mode="any")
-    change(tensor)
-    register([tensor], after.append, mode="any")
+    tensor.register_hook(before.append)
+    torch.relu_(tensor)
+    tensor.register_hook(after.append)

# %% both_after
# misconception: a hook finds the old value later | hint: in_place_watch_hooks_after
# breaks: to `before` the gradient of the value that `tensor` held before the change
# edits: always_relu
     before, after = [], []
+    change(tensor)
@@
-    torch.relu_(tensor)

# %% both_before
# misconception: a hook follows the tensor through the change | hint: in_place_watch_hooks_before
# breaks: to `after` that of the value it holds after the change
# edits: always_relu
-    torch.relu_(tensor)
@@
     tensor.register_hook(after.append)
+    change(tensor)

# %% changed_twice
# misconception: calls change once for each hook | hint: in_place_watch_changed_twice
# breaks: Call it once, on `tensor`
# edits: always_relu
-    torch.relu_(tensor)
-    tensor.register_hook(after.append)
+    change(tensor)
+    change(tensor).register_hook(after.append)

# %% changes_a_clone
# misconception: changes a clone | hint: in_place_watch_not_changed
# edits: always_relu
-    torch.relu_(tensor)
-    tensor.register_hook(after.append)
+    new = change(tensor.clone())
+    new.register_hook(after.append)

# %% clone_for_before
# misconception: hooks a clone that keeps the old value | hint: in_place_watch_copy
# edits: always_relu
-    tensor.register_hook(before.append)
-    torch.relu_(tensor)
+    old = tensor.clone()
+    old.register_hook(before.append)
+    change(tensor)

# %% defined_only
# misconception: never registers | hint: hook_never_ran
def watch_around(tensor, change):
    before, after = [], []

    def keep_before(grad):
        before.append(grad)

    change(tensor)

    def keep_after(grad):
        after.append(grad)

    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)

# %% detached
# misconception: keeps detached tensors, whose memory autograd goes on using | hint: kept_alias
# breaks: No later pass may change an entry.
# edits: always_relu
-    tensor.register_hook(before.append)
-    torch.relu_(tensor)
-    tensor.register_hook(after.append)
+    tensor.register_hook(lambda grad: before.append(grad.detach()))
+    change(tensor)
+    tensor.register_hook(lambda grad: after.append(grad.detach()))

# %% first_only
# misconception: removes the hooks after the first pass | hint: runs_only_once
# breaks: Each later backward pass adds one gradient to each list
def watch_around(tensor, change):
    before, after = [], []

    def keep(where, grad):
        if not where:
            where.append(grad)

    tensor.register_hook(partial(keep, before))
    change(tensor)
    tensor.register_hook(partial(keep, after))
    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)

# %% keeps_values
# misconception: keeps the values instead of the gradients | hint: keeps_the_tensor
# edits: always_relu
-    tensor.register_hook(before.append)
-    torch.relu_(tensor)
-    tensor.register_hook(after.append)
+    old = tensor.detach().clone()
+    tensor.register_hook(lambda grad: before.append(old))
+    change(tensor)
+    tensor.register_hook(lambda grad: after.append(tensor.detach()))

# %% last_only
# misconception: replaces what the pass before has left | hint: keeps_last_only
# edits: first_only
-        if not where:
-            where.append(grad)
+        where[:] = [grad]

# %% last_tensor_only
# misconception: removes the hooks of the tensor before | hint: earlier_call_forgotten
handles = []


def watch_around(tensor, change):
    before, after = [], []
    while handles:
        handles.pop().remove()
    handles.append(tensor.register_hook(before.append))
    change(tensor)
    handles.append(tensor.register_hook(after.append))
    return before, after

# %% never_changed
# misconception: forgets the change | hint: in_place_watch_not_changed
# edits: always_relu
-    torch.relu_(tensor)

# %% new_gradient
# misconception: returns a changed gradient | hint: changes_gradient
# breaks: All gradients, and every `.grad`, stay as they are.
# edits: last_only
-        where[:] = [grad]
+        where.append(grad)
+        return grad * 0
@@
-    tensor.register_hook(partial(keep, after))
+    tensor.register_hook(lambda grad: after.append(grad))

# %% no_grad_change
# misconception: hides the change from autograd | hint: in_place_watch_hidden_change
# breaks: and that autograd records
# edits: always_relu
-    torch.relu_(tensor)
+    with torch.no_grad():
+        change(tensor)

# %% one_list
# misconception: one list with two names | hint: in_place_watch_one_list
# edits: reference
-def watch_around(tensor: torch.Tensor, change) -> tuple:
-    """Change ``tensor`` in place; return two lists for the gradients of its value before and after the change."""
-    before, after = [], []
-    # TODO: two hooks and the change, in the right order.
+def watch_around(tensor, change):
+    before = after = []

# %% reads_dot_grad
# misconception: reads .grad in the hooks | hint: reads_grad_early
# edits: never_changed
-    tensor.register_hook(before.append)
-    tensor.register_hook(after.append)
+    tensor.register_hook(lambda grad: before.append(tensor.grad))
+    change(tensor)
+    tensor.register_hook(lambda grad: after.append(tensor.grad))

# %% reads_grad
# misconception: retain_grad and .grad, at once | hint: asks_too_early
# breaks: Return two lists, `before` and `after`, both still empty.
# edits: never_changed
-    before, after = [], []
-    tensor.register_hook(before.append)
-    tensor.register_hook(after.append)
+    tensor.retain_grad()
+    before = [tensor.grad]
+    change(tensor)
+    after = [tensor.grad]

# %% returned_swapped
# misconception: returns the lists in the other order | hint: in_place_watch_swapped
# edits: changed_twice
-    change(tensor).register_hook(after.append)
-    return before, after
+    tensor.register_hook(after.append)
+    return after, before

# %% returns_handles
# misconception: returns the handles | hint: in_place_watch_two_lists
# edits: never_changed
-    tensor.register_hook(before.append)
-    tensor.register_hook(after.append)
-    return before, after
+    first = tensor.register_hook(before.append)
+    change(tensor)
+    second = tensor.register_hook(after.append)
+    return first, second

# %% returns_nothing
# misconception: returns nothing | hint: in_place_watch_two_lists
# breaks: Write `watch_around(tensor, change)`.
# edits: returned_swapped
-    return after, before

# %% returns_one_list
# misconception: one list for everything | hint: in_place_watch_two_lists
def watch_around(tensor, change):
    seen = []
    tensor.register_hook(seen.append)
    change(tensor)
    tensor.register_hook(seen.append)
    return seen


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)

# %% swapped
# misconception: the lists in the order of backward | hint: in_place_watch_swapped
# edits: both_after
     before, after = [], []
+    tensor.register_hook(after.append)
@@
-    tensor.register_hook(after.append)

# %% uses_the_result
# misconception: hooks what change returns | hint: in_place_watch_return_value
# breaks: what it returns does not matter
# edits: changes_a_clone
-    new = change(tensor.clone())
+    new = change(tensor)

# %% tried_first
# misconception: tries the change on a copy before | hint: in_place_watch_changed_twice
# breaks: Call it once, on `tensor`
def watch_around(tensor, change):
    before, after = [], []
    tensor.register_hook(before.append)
    change(tensor.detach().clone())
    change(tensor)
    tensor.register_hook(after.append)
    return before, after

x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)

# %% zeros_left_out
# misconception: a gradient of zero is none | hint: drops_an_entry
def watch_around(tensor, change):
    before, after = [], []
    tensor.register_hook(lambda grad: before.append(grad) if grad.any() else None)
    change(tensor)
    tensor.register_hook(lambda grad: after.append(grad) if grad.any() else None)
    return before, after

x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)

# %% repairs_what_is_not_finite
# misconception: returns a gradient without NaN and infinity | hint: repairs_the_gradient
# breaks: All gradients, and every `.grad`, stay as they are.
# edits: tried_first
-    change(tensor.detach().clone())
@@
-    tensor.register_hook(after.append)
+    tensor.register_hook(lambda grad: after.append(grad) or torch.nan_to_num(grad))

# %% multi_grad_hooks_that_wait
# misconception: multi-grad hooks, which do not run if backward begins at the tensor | hint: begins_at_the_tensor
def watch_around(tensor, change):
    before, after = [], []
    register = torch.autograd.graph.register_multi_grad_hook
    register([tensor], lambda grads: before.extend(grads))
    change(tensor)
    register([tensor], lambda grads: after.extend(grads))
    return before, after

x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)

# %% first_output_of_the_operation
# misconception: takes the gradient of the first output of the operation | hint: hooks_the_operation
# edits: tried_first
-    tensor.register_hook(before.append)
-    change(tensor.detach().clone())
+    tensor.grad_fn.register_prehook(lambda grads: before.append(grads[0]))

# %% only_while_the_tensor_lives
# misconception: a weak reference to the tensor, and no entry once the caller has let go of it | hint: needs_the_tensor
# breaks: Each later backward pass adds one gradient to each list
def watch_around(tensor, change):
    import weakref

    before, after, alive = [], [], weakref.ref(tensor)

    def note(where, grad):
        if alive() is not None:
            where.append(grad.clone())

    tensor.register_hook(partial(note, before))
    change(tensor)
    tensor.register_hook(partial(note, after))
    return before, after

# %% kept_in_float32
# misconception: keeps the gradients in float32, whatever they were | hint: digits_lost
# breaks: to `before` the gradient of the value that `tensor` held before the change
def watch_around(tensor, change):
    before, after = [], []
    tensor.register_hook(lambda grad: before.append(grad.clone().float()))
    change(tensor)
    tensor.register_hook(lambda grad: after.append(grad.clone().float()))
    return before, after

# %% retains_too
# misconception: keeps the gradient in .grad as well | hint: uses_retain_grad
# breaks: All gradients, and every `.grad`, stay as they are.
def watch_around(tensor, change):
    before, after = [], []
    tensor.register_hook(before.append)
    change(tensor)
    tensor.register_hook(after.append)
    tensor.retain_grad()
    return before, after

# %% reads_the_sum
# misconception: takes the gradient of the new value from .grad, where it adds up | hint: accumulated_grad
def watch_around(tensor, change):
    before, after = [], []

    def hook(grad):
        before.append(grad)
        after.append(tensor.grad.clone())

    tensor.register_hook(hook)
    change(tensor)
    tensor.retain_grad()
    return before, after

# %% global_lists
# misconception: the same two lists for all calls | hint: shared_list
# breaks: Return two lists, `before` and `after`, both still empty.
before, after = [], []


def watch_around(tensor, change):
    before.clear()
    after.clear()
    tensor.register_hook(lambda grad: before.append(grad))
    change(tensor)
    tensor.register_hook(lambda grad: after.append(grad))
    return before, after

# %% result_if_there_is_one
# misconception: hooks what change returns, or the tensor if that is None | hint: in_place_watch_return_value
# breaks: what it returns does not matter
def watch_around(tensor, change):
    before, after = [], []
    tensor.register_hook(before.append)
    changed = change(tensor)
    changed = tensor if changed is None else changed
    changed.register_hook(after.append)
    return before, after
