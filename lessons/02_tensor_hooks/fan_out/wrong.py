# %% as_numbers
# misconception: turns the gradients into Python numbers | hint: python_number
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
# edits: as_numbers
-    for name, tensor in tensors.items():
-        tensor.register_hook(lambda grad, name=name: log.append((name, grad.tolist())))
+    for tensor in tensors:
+        tensor.register_hook(lambda grad, name=tensor: log.append((name, grad)))

# %% late_binding
# misconception: a lambda that looks the loop variable up when it runs | hint: fan_out_loop_variable
# breaks: each call of a hook on one of them adds one pair, `(name, gradient)`
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
# edits: called_at_once
-    for name, tensor in tensors.items():
-        tensor.register_hook(note(name, tensor.grad))
+    hooks = [partial(note, name) for name in tensors]

# %% no_prediction
# misconception: runs first, predicts never | hint: fan_out_no_prediction
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = []

# %% normalises
# misconception: returns a changed gradient | hint: changes_gradient
# breaks: and changes nothing
# edits: divides_by_uses
-        log.append((name, grad / 2 if name == "h" else grad))
+        log.append((name, grad))
+        return grad / grad.norm()

# %% only_the_first
# misconception: one entry a name: later calls are ignored | hint: runs_only_once
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
# edits: kept_the_prediction
-predicted = [10.0, 12.0]
-what_ran = [22.0]
+predicted = [6.0]

# %% predicts_two_calls
# misconception: one call for each use | hint: fan_out_call_for_each_use
# breaks: `predicted`: one number for each call of the hook on `h`, in order: what it is called with.
# edits: kept_the_prediction
-what_ran = [22.0]

# %% ran_without_a_prediction
# misconception: no prediction, only what ran | hint: fan_out_no_prediction
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
# breaks: write what ran into `what_ran`
# edits: kept_the_prediction
-what_ran = [22.0]
+what_ran = [12.0]

# %% backward_inside
# misconception: runs a backward pass of its own and reads .grad | hint: asks_too_early
# breaks: returns a list at once, still empty
predicted = [22]
what_ran = None


def log_gradients(tensors):
    log = []
    for tensor in tensors.values():
        tensor.retain_grad()
    list(tensors.values())[-1].sum().backward(retain_graph=True)
    log += [(name, tensor.grad) for name, tensor in tensors.items()]
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
