# nothing to break: Keep your predictions.

# %% every_hook_ten_times
# misconception: every tensor hook returns ten times the gradient | hint: firing_order_not_ten_times
# breaks: The gradients change only as said in 4.
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    log = []

    def note(name, grad):
        log.append((name, h.grad is not None))
        return 10 * grad

    w.register_post_accumulate_grad_hook(lambda leaf: log.append(("w.grad", h.grad is not None)))
    w.register_hook(partial(note, "w"))
    h.retain_grad()
    h.register_hook(partial(note, "first"))
    h.register_hook(partial(note, "second"))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)

# %% filled_at_once
# misconception: returns what is known, without a hook | hint: firing_order_no_hooks
# breaks: write `log_order(w, h)`, to find out
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    h.retain_grad()
    h.register_hook(lambda grad: 10 * grad)
    return [("first", False), ("second", False), ("w", True), ("w.grad", True)]


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)

# %% first_returns_nothing
# misconception: computes ten times the gradient and returns nothing | hint: firing_order_not_ten_times
# breaks: which returns ten times the gradient
# edits: kept_the_prediction
-predicted = [("w.grad", False), ("w", False), ("first", True), ("second", True)]
-predicted_h_grad = 12.0
-what_ran = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
-what_ran_h_grad = 120.0
+predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
+predicted_h_grad = 120.0
@@
-    def note(name, _):
+    def note(name, argument):
@@
-        return 10 * grad
+        grad = 10 * grad

# %% global_log
# misconception: one global list | hint: shared_list
# edits: kept_the_prediction
-predicted = [("w.grad", False), ("w", False), ("first", True), ("second", True)]
-predicted_h_grad = 12.0
-what_ran = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
-what_ran_h_grad = 120.0
+predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
+predicted_h_grad = 120.0
+
+
+log = []
@@
-    log = []
-
-    def note(name, _):
+    def note(name, argument):

# %% hook_on_the_operation
# misconception: a hook on the operation between h and w instead of one on w | hint: firing_order_hung_on_h
# breaks: a tensor hook on `w`, called
# edits: first_returns_nothing
-    def note(name, argument):
+    def note(name, *arguments):
@@
-        note("first", grad)
-        grad = 10 * grad
+        note("first")
+        return 10 * grad
@@
-    w.register_hook(partial(note, "w"))
@@
     h.register_hook(partial(note, "second"))
+    h.grad_fn.register_hook(partial(note, "w"))

# %% in_place
# misconception: makes the gradient larger in place | hint: edits_in_place
# edits: first_returns_nothing
-        grad = 10 * grad
+        return grad.mul_(10)

# %% late_binding
# misconception: names that the hooks look up when they run | hint: fan_out_loop_variable
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    log = []
    h.retain_grad()
    for name, tensor in {"w": w, "first": h, "second": h}.items():

        def hook(grad):
            log.append((name, h.grad is not None))
            return 10 * grad if name == "first" else None

        tensor.register_hook(hook)
    name = "w.grad"
    w.register_post_accumulate_grad_hook(lambda leaf: log.append((name, h.grad is not None)))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)

# %% logs_h_grad
# misconception: h.grad itself for the yes or no | hint: firing_order_gradient_for_flag
# edits: first_returns_nothing
-        log.append((name, h.grad is not None))
+        log.append((name, h.grad))
@@
-        grad = 10 * grad
+        return 10 * grad

# %% looks_at_registration
# misconception: looks at h.grad when the hooks are registered | hint: firing_order_flag_frozen
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    log = []

    def hook(entry, factor=None):
        def inner(grad):
            log.append(entry)
            return grad * factor if factor else None

        return inner

    w.register_post_accumulate_grad_hook(hook(("w.grad", h.grad is not None)))
    w.register_hook(hook(("w", h.grad is not None)))
    h.retain_grad()
    h.register_hook(hook(("first", h.grad is not None), 10))
    h.register_hook(hook(("second", h.grad is not None)))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)

# %% new_list_in_the_hooks
# misconception: the hooks make a new list | hint: other_list_returned
# edits: logs_h_grad
-        log.append((name, h.grad))
+        log = []
+        log.append((name, h.grad is not None))

# %% no_post_accumulate
# misconception: leaves out the post-accumulate hook | hint: firing_order_missing_hook
# edits: new_list_in_the_hooks
-        log = []
@@
-    w.register_post_accumulate_grad_hook(partial(note, "w.grad"))

# %% no_retain_grad
# misconception: forgets the third step | hint: firing_order_not_retained
# breaks: `h.retain_grad()`
# edits: new_list_in_the_hooks
-        log = []
@@
-    h.retain_grad()

# %% post_accumulate_on_h
# misconception: a post-accumulate hook on a tensor in the middle | hint: post_accumulate_on_non_leaf
# edits: no_post_accumulate
     h.register_hook(partial(note, "second"))
+    h.register_post_accumulate_grad_hook(partial(note, "w.grad"))

# %% predicts_all_backwards
# misconception: the order of registration, backwards | hint: firing_order_last_first
# edits: new_list_in_the_hooks
-predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
+predicted = [("second", True), ("first", True), ("w", True), ("w.grad", True)]
@@
-def log_order(w, h):
+def log_order(w: torch.Tensor, h: torch.Tensor) -> list:
@@
-        log = []

# %% predicts_forward
# misconception: the leaf first | hint: firing_order_forward
# edits: predicts_all_backwards
-predicted = [("second", True), ("first", True), ("w", True), ("w.grad", True)]
+predicted = [("w", False), ("first", False), ("second", False), ("w.grad", True)]

# %% predicts_gradient_of_w
# misconception: the gradient of w | hint: firing_order_gradient_of_w
# edits: predicts_all_backwards
-predicted = [("second", True), ("first", True), ("w", True), ("w.grad", True)]
-predicted_h_grad = 120.0
+predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
+predicted_h_grad = 360.0

# %% predicts_last_first
# misconception: hooks run backwards too, the last one first | hint: firing_order_last_first
# edits: predicts_all_backwards
-predicted = [("second", True), ("first", True), ("w", True), ("w.grad", True)]
+predicted = [("second", False), ("first", False), ("w", True), ("w.grad", True)]

# %% predicts_leaf_first
# misconception: first all about the leaf | hint: firing_order_forward
# edits: predicts_all_backwards
-predicted = [("second", True), ("first", True), ("w", True), ("w.grad", True)]
+predicted = [("w", False), ("w.grad", False), ("first", False), ("second", True)]

# %% predicts_names_only
# misconception: the names without the second half of the pairs | hint: firing_order_no_pairs
# breaks: `predicted` holds four pairs
# edits: predicts_all_backwards
-predicted = [("second", True), ("first", True), ("w", True), ("w.grad", True)]
+predicted = ["first", "second", "w", "w.grad"]

# %% predicts_no_number
# misconception: predicts the order only | hint: firing_order_no_prediction
# edits: predicts_gradient_of_w
-predicted_h_grad = 360.0
+predicted_h_grad = None

# %% predicts_nothing
# misconception: runs first, predicts never | hint: firing_order_no_prediction
# edits: predicts_no_number
-predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
+predicted = []

# %% predicts_registration
# misconception: hooks run in the order of registration, on whatever tensor | hint: firing_order_as_registered
# breaks: in the order of the calls: the name of the hook
# edits: predicts_all_backwards
-predicted = [("second", True), ("first", True), ("w", True), ("w.grad", True)]
+predicted = [("w.grad", False), ("w", False), ("first", True), ("second", True)]

# %% predicts_retained_between
# misconception: h.grad is there once the first hook has run | hint: firing_order_retained_early
# edits: predicts_all_backwards
-predicted = [("second", True), ("first", True), ("w", True), ("w.grad", True)]
+predicted = [("first", False), ("second", True), ("w", True), ("w.grad", True)]

# %% predicts_retained_first
# misconception: retain_grad was asked for first, so it comes first | hint: firing_order_retained_early
# breaks: whether there is something in `h.grad` at that moment
# edits: predicts_all_backwards
-predicted = [("second", True), ("first", True), ("w", True), ("w.grad", True)]
+predicted = [("first", True), ("second", True), ("w", True), ("w.grad", True)]

# %% predicts_retained_last
# misconception: h.grad is there when backward is over | hint: firing_order_retained_late
# edits: predicts_all_backwards
-predicted = [("second", True), ("first", True), ("w", True), ("w.grad", True)]
+predicted = [("first", False), ("second", False), ("w", False), ("w.grad", False)]

# %% predicts_sum_first
# misconception: first the addition to .grad, then the leaf's tensor hook | hint: firing_order_sum_before_hook
# edits: predicts_all_backwards
-predicted = [("second", True), ("first", True), ("w", True), ("w.grad", True)]
+predicted = [("first", False), ("second", False), ("w.grad", True), ("w", True)]

# %% predicts_ten_times_twice
# misconception: the factor once for each hook on h | hint: firing_order_ten_times_twice
# edits: predicts_gradient_of_w
-predicted_h_grad = 360.0
+predicted_h_grad = 1200.0

# %% predicts_unchanged
# misconception: retain_grad keeps the gradient from before the hooks | hint: firing_order_retained_early
# breaks: `predicted_h_grad` is the number in `h.grad` afterwards
# edits: predicts_gradient_of_w
-predicted_h_grad = 360.0
+predicted_h_grad = 12.0

# %% ran_without_a_prediction
# misconception: no prediction, only what ran | hint: firing_order_no_prediction
# breaks: **Predict first**, for the picture
# edits: kept_the_prediction
-predicted = [("w.grad", False), ("w", False), ("first", True), ("second", True)]
-predicted_h_grad = 12.0
+predicted = []
+predicted_h_grad = None

# %% returns_nothing
# misconception: does not return the list | hint: returns_no_list
# breaks: It does five things, **in this order**, and returns a list, at once and still empty
# edits: new_list_in_the_hooks
-        log = []
@@
-    return log

# %% returns_the_pair
# misconception: a hook that returns the pair | hint: hook_returns_no_tensor
# edits: logs_h_grad
-        log.append((name, h.grad))
+        pair = (name, h.grad is not None)
+        log.append(pair)
+        return pair
@@
-        note("first", grad)
+        log.append(("first", h.grad is not None))

# %% second_before_first
# misconception: registers the hooks on h in the other order | hint: firing_order_other_registration
# breaks: one more tensor hook on `h`, called
# edits: no_retain_grad
     w.register_hook(partial(note, "w"))
+    h.retain_grad()
+    h.register_hook(partial(note, "second"))
@@
-    h.register_hook(partial(note, "second"))

# %% second_returns_it
# misconception: the second hook returns what the first one should | hint: firing_order_not_ten_times
# breaks: called `"first"`, which returns ten times the gradient
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    log = []

    def note(name, _):
        log.append((name, h.grad is not None))

    def second(grad):
        note("second", grad)
        return 10 * grad

    w.register_post_accumulate_grad_hook(partial(note, "w.grad"))
    w.register_hook(partial(note, "w"))
    h.retain_grad()
    h.register_hook(partial(note, "first"))
    h.register_hook(second)
    return log

# %% second_undoes_it
# misconception: the second hook returns the gradient without the factor | hint: firing_order_not_ten_times
# edits: first_returns_nothing
-    log = []
+    log, kept = [], []
@@
-        grad = 10 * grad
+        kept.append(grad)
+        return 10 * grad
+
+    def second(grad):
+        note("second", grad)
+        return kept[-1]
@@
-    h.register_hook(partial(note, "second"))
+    h.register_hook(second)

# %% two_tensor_hooks
# misconception: a tensor hook for w.grad as well, in the order of the statement | hint: firing_order_second_tensor_hook
# breaks: a post-accumulate hook on `w`, called
# edits: no_post_accumulate

+    w.register_hook(partial(note, "w.grad"))
     w.register_hook(partial(note, "w"))

# %% two_tensor_hooks_that_look_right
# misconception: a second tensor hook on w, registered last | hint: firing_order_second_tensor_hook
# edits: no_post_accumulate
     w.register_hook(partial(note, "w"))
+    w.register_hook(partial(note, "w.grad"))

# %% typed_in
# misconception: types in what the first pass shows | hint: firing_order_flag_typed_in
# breaks: Each hook, whenever it runs, adds a pair to the list: its name, and whether `h.grad` is there at that moment.
# edits: every_hook_ten_times
-    def note(name, grad):
-        log.append((name, h.grad is not None))
+    def first(grad):
+        log.append(("first", False))
@@
-    w.register_hook(partial(note, "w"))
+    w.register_hook(lambda grad: log.append(("w", h.grad is not None)))
@@
-    h.register_hook(partial(note, "first"))
-    h.register_hook(partial(note, "second"))
+    h.register_hook(first)
+    h.register_hook(lambda grad: log.append(("second", False)))

# %% what_ran_is_wrong
# misconception: misreads the log, too | hint: firing_order_as_registered
# breaks: If the run shows something else, write that into `what_ran` and `what_ran_h_grad`
# edits: kept_the_prediction
-what_ran = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
+what_ran = [("first", True), ("second", True), ("w", True), ("w.grad", True)]

# %% writes_h_grad
# misconception: a hook that writes h.grad instead of retain_grad | hint: firing_order_keeps_it_itself
# edits: no_retain_grad
     def first(grad):
+        h.grad = 10 * grad

# %% zero_is_not_there
# misconception: a gradient of zero counts as none | hint: truth_of_a_gradient
# breaks: whether `h.grad` is there at that moment
# edits: logs_h_grad
-        log.append((name, h.grad))
+        log.append((name, bool(h.grad is not None and h.grad.any())))
@@
-
-
-w = torch.tensor(2.0, requires_grad=True)
-h = w * 3
-log = log_order(w, h)
-(h**2).backward()
-print("predicted:", predicted, "  h.grad:", predicted_h_grad)
-print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)

# %% global_log_cleared
# misconception: one list for all calls, emptied at each of them | hint: shared_list
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0
everything = []


def log_order(w, h):
    everything.clear()

    def note(name, factor, grad):
        everything.append((name, h.grad is not None))
        return factor and factor * grad

    w.register_post_accumulate_grad_hook(partial(note, "w.grad", None))
    w.register_hook(partial(note, "w", None))
    h.retain_grad()
    h.register_hook(partial(note, "first", 10))
    h.register_hook(partial(note, "second", None))
    return everything

# %% each_name_once
# misconception: notes each hook at its first call only | hint: runs_only_once
# breaks: Each hook, whenever it runs, adds a pair to the list
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    log = {}
    pairs = []

    def note(name, factor, grad):
        if name not in log:
            log[name] = h.grad is not None
            pairs.append((name, log[name]))
        return factor and factor * grad

    w.register_post_accumulate_grad_hook(partial(note, "w.grad", None))
    w.register_hook(partial(note, "w", None))
    h.retain_grad()
    h.register_hook(partial(note, "first", 10))
    h.register_hook(partial(note, "second", None))
    return pairs

# %% looks_at_its_own_tensor
# misconception: each hook looks at the .grad of its own tensor | hint: firing_order_own_grad
# breaks: its name, and whether `h.grad` is there at that moment
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    log = []

    def note(name, tensor, factor, grad):
        log.append((name, tensor.grad is not None))
        return factor and factor * grad

    w.register_post_accumulate_grad_hook(partial(note, "w.grad", w, None))
    w.register_hook(partial(note, "w", w, None))
    h.retain_grad()
    h.register_hook(partial(note, "first", h, 10))
    h.register_hook(partial(note, "second", h, None))
    return log

# %% first_four_only
# misconception: stops when the log has four pairs | hint: runs_only_once
# breaks: Each hook, whenever it runs, adds a pair to the list
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120
what_ran = what_ran_h_grad = None


def log_order(w: torch.Tensor, h: torch.Tensor) -> list:
    log = []

    def note(name):
        if len(log) < 4:
            log.append((name, h.grad is not None))

    def first(grad):
        note("first")
        return grad * 10

    w.register_post_accumulate_grad_hook(lambda tensor: note("w.grad"))
    w.register_hook(lambda grad: note("w"))
    h.retain_grad()
    h.register_hook(first)
    h.register_hook(lambda grad: note("second"))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
