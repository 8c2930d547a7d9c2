# %% absolute_in_place
# misconception: edits in place | hint: changes_gradient
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.abs_()))
    return seen

# %% adds_up
# misconception: adds up, as .grad does | hint: accumulated_grad
# edits: nonlocal_plus
-        nonlocal seen
-        seen += [grad]
+        seen.append(grad + seen[-1] if seen else grad)

# %% at_most_two
# misconception: keeps the last two | hint: drops_an_entry
# edits: nonlocal_plus
-        nonlocal seen
-        seen += [grad]
+        seen.append(grad)
+        del seen[:-2]

# %% detached
# misconception: keeps a detached tensor, whose memory autograd goes on using | hint: kept_alias
# breaks: which no later pass may change
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.detach()))
    return seen

# %% extends
# misconception: extend: the rows one by one | hint: splits_gradient
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(seen.extend)
    return seen

# %% global_list
# misconception: one global list | hint: shared_list
# breaks: Each call has a list of its own.
seen = []


def watch_gradient(tensor):
    tensor.register_hook(seen.append)
    return seen

# %% global_list_cleared
# misconception: one global list, emptied by each call | hint: shared_list
# edits: global_list
 def watch_gradient(tensor):
+    seen.clear()

# %% hooks_copy
# misconception: hooks a new tensor | hint: hook_never_ran
def watch_gradient(tensor):
    seen = []
    copied = tensor * 1
    copied.register_hook(seen.append)
    return seen

# %% hooks_detached
# misconception: hooks a detached copy | hint: no_gradient_needed
def watch_gradient(tensor):
    seen = []
    tensor.detach().register_hook(seen.append)
    return seen

# %% keeps_last
# misconception: replaces the content | hint: keeps_last_only
# edits: nonlocal_plus
-        nonlocal seen
-        seen += [grad]
+        seen[:] = [grad]

# %% keeps_value
# misconception: appends the tensor | hint: keeps_the_tensor
# breaks: the gradient of `tensor` in that pass
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(tensor.detach()))
    return seen

# %% local_list
# misconception: the hook makes a new list | hint: other_list_returned
# edits: nonlocal_plus
-        nonlocal seen
-        seen += [grad]
+        seen = [grad]

# %% mutable_default
# misconception: a list as default argument | hint: shared_list
def watch_gradient(tensor, seen=[]):
    tensor.register_hook(seen.append)
    return seen

# %% no_hook
# misconception: never registers | hint: hook_never_ran
def watch_gradient(tensor):
    seen = []

    def hook(grad):
        seen.append(grad)

    return seen

# %% no_return
# misconception: does not return the list | hint: returns_no_list
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(seen.append)

# %% node_hook
# misconception: a hook on the operation, its first output | hint: hooks_the_operation
def watch_gradient(tensor):
    seen = []

    def hook(grad_inputs, grad_outputs):
        seen.append(grad_outputs[0])

    tensor.grad_fn.register_hook(hook)
    return seen

# %% one_list_a_tensor
# misconception: one list for each tensor, whoever asks | hint: shared_list
lists = {}


def watch_gradient(tensor):
    seen = lists.setdefault(tensor, [])
    tensor.register_hook(seen.append)
    return seen

# %% only_once
# misconception: only if the list is empty | hint: runs_only_once
# breaks: Every later backward pass that reaches `tensor`, or begins there, adds one entry to this list
# edits: nonlocal_plus
-        nonlocal seen
-        seen += [grad]
+        if not seen:
+            seen.append(grad)

# %% post_accumulate
# misconception: a post-accumulate hook | hint: post_accumulate_on_non_leaf
# breaks: for a tensor in the middle of a graph
def watch_gradient(tensor):
    seen = []
    tensor.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad))
    return seen

# %% reads_dot_grad
# misconception: retain_grad, and reads .grad in the hook | hint: uses_retain_grad
def watch_gradient(tensor):
    seen = []
    tensor.retain_grad()
    tensor.register_hook(lambda grad: seen.append(tensor.grad))
    return seen

# %% reads_dot_grad_only
# misconception: reads .grad of the tensor in the hook | hint: reads_grad_early
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(tensor.grad))
    return seen

# %% returns_a_copy
# misconception: returns a copy of the list | hint: other_list_returned
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(seen.append)
    return list(seen)

# %% returns_handle
# misconception: returns the handle | hint: returns_no_list
def watch_gradient(tensor):
    seen = []
    return tensor.register_hook(seen.append)

# %% returns_list
# misconception: the hook returns the list | hint: hook_returns_no_tensor
# edits: at_most_two
-        del seen[:-2]
+        return seen

# %% too_early
# misconception: reads .grad at once, without a hook | hint: asks_too_early
# breaks: It returns a list at once, still empty.
def watch_gradient(tensor):
    return [tensor.grad]

# %% with_retain_grad
# misconception: retain_grad beside the hook | hint: uses_retain_grad
# breaks: Nothing may be kept in `tensor.grad`, neither by `retain_grad`
# edits: bound_append
     seen = []
+    tensor.retain_grad()

# %% writes_dot_grad
# misconception: puts the gradient into .grad by hand | hint: hook_writes_grad
# breaks: nor by your own hand
# edits: nonlocal_plus
-        nonlocal seen
-        seen += [grad]
+        tensor.grad = grad
+        seen.append(grad)

# %% zeroes
# misconception: returns zeros | hint: changes_gradient
# breaks: All gradients stay as they are.
# edits: at_most_two
-        del seen[:-2]
+        return grad * 0

# %% zeros_left_out
# misconception: a gradient of zero is none | hint: drops_an_entry
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.clone()) if grad.any() else None)
    return seen

# %% repairs_what_is_not_finite
# misconception: returns a gradient without NaN and infinity | hint: repairs_the_gradient
# breaks: All gradients stay as they are.
# edits: nonlocal_plus
-        nonlocal seen
-        seen += [grad]
+        seen.append(grad.clone())
+        return torch.nan_to_num(grad)

# %% squeezed
# misconception: leaves out dimensions of size 1 | hint: hook_changes_shape
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.clone().squeeze()))
    return seen

# %% through_numpy
# misconception: through NumPy, which has no bfloat16 | hint: not_every_dtype
# breaks: of any shape and floating-point dtype
# edits: nonlocal_plus
-        nonlocal seen
-        seen += [grad]
+        seen.append(torch.tensor(grad.numpy()))

# %% multi_grad_hook_for_one
# misconception: a multi-grad hook, which does not run if backward begins at the tensor | hint: begins_at_the_tensor
# breaks: Every later backward pass that reaches `tensor`, or begins there, adds one entry to this list
def watch_gradient(tensor):
    seen = []
    torch.autograd.graph.register_multi_grad_hook([tensor], lambda grads: seen.extend(grad.clone() for grad in grads))
    return seen

# %% only_while_the_tensor_lives
# misconception: a weak reference to the tensor, and no entry once the caller has let go of it | hint: needs_the_tensor
# breaks: Every later backward pass that reaches `tensor`
def watch_gradient(tensor):
    import weakref

    seen, alive = [], weakref.ref(tensor)

    def remember(grad):
        if alive() is not None:
            seen.append(grad.clone())

    tensor.register_hook(remember)
    return seen

# %% sliced_copy
# misconception: copies a slice, which a gradient without dimensions has not | hint: no_dimensions
# breaks: of any shape
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad[:].clone()))
    return seen

# %% item
# misconception: turns each gradient into one number | hint: python_number
# breaks: the gradient of `tensor` in that pass
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.item()))
    return seen

# %% keeps_an_array
# misconception: an array of NumPy for the tensor | hint: numbers_for_tensors
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.numpy()))
    return seen

# %% in_float32
# misconception: float32 for every dtype | hint: digits_lost
# breaks: floating-point dtype
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.clone().float()))
    return seen
