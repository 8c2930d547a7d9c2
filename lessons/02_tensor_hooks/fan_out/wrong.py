# nothing to break: You get the point for a prediction that came true, and just as well for a right `what_ran`.
# nothing to break: `log_gradients(tensors)`, to find out.

# %% a_dict
# misconception: a dict from names to gradients | hint: returns_no_list
# breaks: return a list at once, still empty
# edits: by_partial
-    log = []
-
-    def note(name, grad):
-        log.append((name, grad.detach().clone()))
-
-    for name in tensors:
-        tensors[name].register_hook(partial(note, name))
+    log = {}
+    for name, tensor in tensors.items():
+        tensor.register_hook(lambda grad, name=name: log.update({name: grad}))

# %% as_numbers
# misconception: turns the gradients into Python numbers | hint: python_number
# breaks: the gradient as a tensor
# edits: by_partial
-
-    def note(name, grad):
-        log.append((name, grad.detach().clone()))
-
-    for name in tensors:
-        tensors[name].register_hook(partial(note, name))
+    for name, tensor in tensors.items():
+        tensor.register_hook(lambda grad, name=name: log.append((name, grad.tolist())))

# %% called_at_once
# misconception: calls the function instead of handing it over | hint: tensor_hook_called_at_once
# edits: by_partial
-        log.append((name, grad.detach().clone()))
+        log.append((name, grad))
@@
-    for name in tensors:
-        tensors[name].register_hook(partial(note, name))
+    for name, tensor in tensors.items():
+        tensor.register_hook(note(name, tensor.grad))

# %% detached
# misconception: keeps detached tensors, whose memory autograd goes on using | hint: kept_alias
# breaks: which no later pass may change
# edits: as_numbers
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.tolist())))
+        tensor.register_hook(lambda grad, name=name: log.append((name, grad.detach())))

# %% divides_by_uses
# misconception: splits the gradient among the two uses of h | hint: fan_out_divided
# edits: by_partial
-        log.append((name, grad.detach().clone()))
+        log.append((name, grad / 2 if name == "h" else grad))
@@
-    for name in tensors:
-        tensors[name].register_hook(partial(note, name))
+    for name, tensor in tensors.items():
+        tensor.register_hook(partial(note, name))

# %% flat_entries
# misconception: name and gradient as two entries | hint: fan_out_not_pairs
# edits: as_numbers
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.tolist())))
+        tensor.register_hook(lambda grad, name=name: log.extend([name, grad]))

# %% global_log
# misconception: one global list | hint: shared_list
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = [22.0]
+log = []
@@
-    log = []

# %% gradients_only
# misconception: logs the gradients without names | hint: fan_out_not_pairs
# edits: as_numbers
-    for name, tensor in tensors.items():
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.tolist())))
+    for tensor in tensors.values():
+        tensor.register_hook(log.append)

# %% inner_def_late_binding
# misconception: a def in the loop that looks the loop variable up when it runs | hint: fan_out_loop_variable
# edits: as_numbers
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.tolist())))
+
+        def hook(grad):
+            entry = (name, grad)
+            log.append(entry)
+
+        tensor.register_hook(hook)

# %% iterates_the_keys
# misconception: goes through the dict's names as if they were the tensors | hint: fan_out_names_for_tensors
# breaks: `tensors` is a dict from names to tensors.
# edits: as_numbers
-    for name, tensor in tensors.items():
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.tolist())))
+    for tensor in tensors:
+        tensor.register_hook(lambda grad, name=tensor: log.append((name, grad)))

# %% late_binding
# misconception: a lambda that looks the loop variable up when it runs | hint: fan_out_loop_variable
# breaks: the name of the hook's tensor
# edits: as_numbers
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.tolist())))
+        tensor.register_hook(lambda grad: log.append((name, grad)))

# %% names_only
# misconception: logs the names without gradients | hint: fan_out_not_pairs
# edits: as_numbers
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.tolist())))
+        tensor.register_hook(lambda grad, name=name: log.append(name))

# %% never_registered
# misconception: defines the hooks and registers none | hint: hook_never_ran
# breaks: Put a hook on each tensor
# edits: called_at_once
-    for name, tensor in tensors.items():
-        tensor.register_hook(note(name, tensor.grad))
+    hooks = [partial(note, name) for name in tensors]

# %% new_list_in_the_hook
# misconception: the hook makes a new list | hint: other_list_returned
# edits: divides_by_uses
-        log.append((name, grad / 2 if name == "h" else grad))
+        log = []
+        log.append((name, grad))

# %% no_prediction
# misconception: runs first, predicts never | hint: fan_out_no_prediction
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = []

# %% normalises
# misconception: returns a changed gradient | hint: changes_gradient
# breaks: Only watch: every gradient
# edits: divides_by_uses
-        log.append((name, grad / 2 if name == "h" else grad))
+        log.append((name, grad))
+        return grad / grad.norm()

# %% only_new_ones
# misconception: leaves out a pair that it has already | hint: drops_an_entry
# breaks: each call of a hook adds one pair
predicted = [22.0]


def log_gradients(tensors: dict) -> list:
    log = []

    def note(name, grad):
        if not any(name == other and torch.equal(grad, earlier) for other, earlier in log):
            log.append((name, grad))

    for name, tensor in tensors.items():
        tensor.register_hook(partial(note, name))
    return log

# %% only_the_first
# misconception: one entry a name: later calls are ignored | hint: runs_only_once
# breaks: each call of a hook adds one pair to this list
# edits: divides_by_uses
-        log.append((name, grad / 2 if name == "h" else grad))
+        if name not in [entry[0] for entry in log]:
+            log.append((name, grad))

# %% post_accumulate
# misconception: post-accumulate hooks on all tensors | hint: post_accumulate_on_non_leaf
# edits: as_numbers
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.tolist())))
+        tensor.register_post_accumulate_grad_hook(lambda tensor, name=name: log.append((name, tensor.grad)))

# %% predicts_a_number
# misconception: one number, no list of calls | hint: fan_out_no_list
# breaks: a list with one number for each call
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = 22.0

# %% predicts_running_sum
# misconception: two calls, the second with what has come together | hint: fan_out_call_for_each_use
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = [10.0, 22.0]

# %% predicts_the_last_use
# misconception: the last use overwrites the others | hint: fan_out_one_use_counts
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = [12.0]

# %% predicts_the_leaf
# misconception: the gradient of w instead of h | hint: fan_out_gradient_of_the_leaf
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = [66.0]

# %% predicts_the_mean
# misconception: the mean of the gradients | hint: fan_out_mean
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = [11.0]

# %% predicts_the_sum_twice
# misconception: two calls, each with the sum | hint: fan_out_sum_at_each_call
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = [22.0, 22.0]

# %% predicts_the_value
# misconception: the hook gets the value of h | hint: fan_out_value
# breaks: what it is called with
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = [6.0]

# %% predicts_two_calls
# misconception: one call for each use | hint: fan_out_call_for_each_use
# edits: kept_the_prediction
-what_ran = [22.0]

# %% predicts_two_calls_backwards
# misconception: one call for each use, last one first | hint: fan_out_call_for_each_use
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = [12.0, 10.0]

# %% ran_without_a_prediction
# misconception: no prediction, only what ran | hint: fan_out_no_prediction
# breaks: Write your prediction down before you run the cell
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
+predicted = []

# %% reads_dot_grad
# misconception: logs .grad inside the hook | hint: reads_grad_early
# edits: gradients_only
-    for tensor in tensors.values():
-        tensor.register_hook(log.append)
+
+    def hook(name, tensor, grad):
+        log.append((name, tensor.grad))
+
+    for name, tensor in tensors.items():
+        tensor.register_hook(partial(hook, name, tensor))

# %% removes_itself
# misconception: each hook removes itself once it has run | hint: runs_only_once
# edits: gradients_only
-    log = []
-    for tensor in tensors.values():
-        tensor.register_hook(log.append)
+    log, handles = [], {}
+
+    def note(name, grad):
+        log.append((name, grad))
+        handles[name].remove()
+
+    for name, tensor in tensors.items():
+        handles[name] = tensor.register_hook(partial(note, name))

# %% replaces_the_entry
# misconception: a new gradient replaces the earlier one of that name | hint: keeps_last_only
# edits: divides_by_uses
-        log.append((name, grad / 2 if name == "h" else grad))
+        log[:] = [entry for entry in log if entry[0] != name] + [(name, grad)]

# %% returns_the_pair
# misconception: the hook returns the pair | hint: hook_returns_no_tensor
# edits: normalises
-        return grad / grad.norm()
+        return name, grad

# %% the_value
# misconception: logs the tensor's value | hint: keeps_the_tensor
# edits: as_numbers
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.tolist())))
+        tensor.register_hook(lambda grad, name=name, tensor=tensor: log.append((name, tensor.detach())))

# %% two_arguments
# misconception: a hook that wants the tensor too | hint: hook_arguments
# edits: called_at_once
-    def note(name, grad):
+    def hook(name, grad):
@@
-        tensor.register_hook(note(name, tensor.grad))
+        tensor.register_hook(hook)

# %% what_ran_is_wrong
# misconception: misreads the log, too: what comes back through the last use | hint: fan_out_call_for_each_use
# breaks: write that into `what_ran`, in the same form
# edits: kept_the_prediction
-what_ran = [22.0]
+what_ran = [12.0]

# %% writes_dot_grad
# misconception: puts the gradient into .grad as well | hint: hook_writes_grad
# breaks: and every `.grad`, is the same as without the hooks
# edits: gradients_only
-    for tensor in tensors.values():
-        tensor.register_hook(log.append)
+
+    def note(name, tensor, grad):
+        tensor.grad = grad.clone()
+        log.append((name, tensor.grad.clone()))
+
+    for name, tensor in tensors.items():
+        tensor.register_hook(partial(note, name, tensor))

# %% zeros_left_out
# misconception: a gradient of zero is none | hint: drops_an_entry
predicted = [22.0]


def log_gradients(tensors):
    log = []
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: log.append((name, grad.clone())) if grad.any() else None)
    return log

# %% repairs_what_is_not_finite
# misconception: returns a gradient without NaN and infinity | hint: repairs_the_gradient
# edits: only_new_ones
-def log_gradients(tensors: dict) -> list:
+def log_gradients(tensors):
@@
-        if not any(name == other and torch.equal(grad, earlier) for other, earlier in log):
-            log.append((name, grad))
+        log.append((name, grad.clone()))
+        return torch.nan_to_num(grad)

# %% name_by_value
# misconception: looks the name up by the values of the tensor | hint: told_by_value
# breaks: the name of the hook's tensor
predicted = [22.0]


def log_gradients(tensors):
    log = []
    for tensor in tensors.values():

        def hook(grad, tensor=tensor):
            log.append((next(name for name, one in tensors.items() if torch.equal(one, tensor)), grad.clone()))

        tensor.register_hook(hook)
    return log

# %% only_while_the_tensors_live
# misconception: weak references to the tensors, and no entry once the caller has let go of them | hint: needs_the_tensor
# breaks: From then on each call of a hook adds one pair to this list
predicted = [22]


def log_gradients(tensors: dict) -> list:
    import weakref

    log = []
    alive = weakref.WeakValueDictionary(tensors)

    def note(name, grad):
        if name in alive:
            log.append((name, grad.clone()))

    for name, tensor in tensors.items():
        tensor.register_hook(partial(note, name))
    return log

# %% what_ran_is_a_number
# misconception: what_ran is no list | hint: fan_out_no_list
# breaks: write that into `what_ran`, in the same form
predicted = [10, 12]
what_ran = 22.0


def log_gradients(tensors: dict) -> list:
    log = []
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: log.append((name, grad)))
    return log

# %% global_log_cleared
# misconception: one list for all calls, emptied at each of them | hint: shared_list
# breaks: return a list at once, still empty. From then on each call of a hook adds one pair to this list
predicted = [22.0]
everything = []


def log_gradients(tensors: dict) -> list:
    everything.clear()
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: everything.append((name, grad)))
    return everything

# %% items
# misconception: turns each gradient into one number | hint: python_number
predicted = [22.0]


def log_gradients(tensors: dict) -> list:
    log = []
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: log.append((name, grad.item())))
    return log

# %% retains_too
# misconception: keeps the gradients in .grad as well | hint: uses_retain_grad
# breaks: every gradient, and every `.grad`, is the same as without the hooks
# edits: items
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.item())))
+        tensor.retain_grad()
+        tensor.register_hook(lambda grad, name=name: log.append((name, grad)))

# %% starts_afresh
# misconception: empties .grad, to begin afresh | hint: empties_grad
# breaks: every `.grad`, is the same as without the hooks
predicted = [22]
what_ran = None


def log_gradients(tensors):
    log = []
    for name, tensor in tensors.items():
        if tensor.is_leaf:
            tensor.grad = None
        tensor.register_hook(lambda grad, name=name: log.append((name, grad.clone())))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()

# %% append_with_two
# misconception: append with two arguments | hint: fan_out_not_pairs
# edits: starts_afresh
-        if tensor.is_leaf:
-            tensor.grad = None
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.clone())))
+        tensor.register_hook(lambda grad, name=name: log.append(name, grad))
@@
-(left + right).backward()

# %% backward_inside
# misconception: runs a backward pass of its own and reads .grad | hint: asks_too_early
# breaks: return a list at once, still empty
# edits: starts_afresh
-    for name, tensor in tensors.items():
-        if tensor.is_leaf:
-            tensor.grad = None
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.clone())))
+    for tensor in tensors.values():
+        tensor.retain_grad()
+    list(tensors.values())[-1].sum().backward(retain_graph=True)
+    log += [(name, tensor.grad) for name, tensor in tensors.items()]

# %% post_accumulate_on_leaves
# misconception: the sum in .grad for leaves | hint: accumulated_grad
# breaks: the gradient as a tensor
# edits: starts_afresh
-            tensor.grad = None
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.clone())))
+            tensor.register_post_accumulate_grad_hook(
+                lambda leaf, name=name: log.append((name, leaf.grad.clone()))
+            )
+        else:
+            tensor.register_hook(lambda grad, name=name: log.append((name, grad.clone())))
