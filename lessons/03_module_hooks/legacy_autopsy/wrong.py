# nothing to break: The cell runs both models for you.

# %% both_full
# misconception: full backward hooks on both models | hint: two_equal_reports | canary
# breaks: Register `collect` as a deprecated hook on one
# edits: reference
-    # TODO: put grad_input into `answer`, as one entry.
@@
-    # TODO: register `collect` as a deprecated hook on legacy_model, and as a full backward hook on full_model.
-    legacy_model.register_backward_hook(collect)
+    legacy_model.register_full_backward_hook(collect)

# %% both_legacy
# misconception: deprecated hooks on both models | hint: two_equal_reports
# edits: both_full
-    legacy_model.register_full_backward_hook(collect)
-    full_model.register_full_backward_hook(collect)
+    legacy_model.register_backward_hook(collect)
+    full_model.register_backward_hook(collect)

# %% both_tuples
# misconception: stores both tuples | hint: keeps_both_sides
# breaks: `collect` appends its `grad_input`
# edits: reference
-    # TODO: put grad_input into `answer`, as one entry.
-    answer.append(grad_input)
+    answer.append((grad_input, grad_output))
@@
-    # TODO: register `collect` as a deprecated hook on legacy_model, and as a full backward hook on full_model.

# %% flat
# misconception: one flat list | hint: takes_elements_apart
# edits: both_tuples
-    answer.append((grad_input, grad_output))
+    answer.extend(grad_input)

# %% first_gradient
# misconception: stores the first gradient only | hint: autopsy_first_gradient
# edits: both_tuples
-    answer.append((grad_input, grad_output))
+    answer.append(grad_input[0])

# %% grad_output
# misconception: stores the gradient of the output | hint: gradients_of_the_output
# edits: both_tuples
-    answer.append((grad_input, grad_output))
+    answer.append(grad_output)

# %% grad_of_the_inputs
# misconception: stores .grad of the inputs, which is not there yet | hint: grad_not_there_yet
# edits: both_tuples
-    answer.append((grad_input, grad_output))
+    answer.append((x1.grad, x2.grad))

# %% inputs_reversed
# misconception: each pair in reverse order | hint: reports_swapped
# edits: both_tuples
-    answer.append((grad_input, grad_output))
+    answer.append(grad_input[::-1])

# %% numbers
# misconception: numbers instead of tensors | hint: numbers_for_tensors
# edits: both_tuples
-    answer.append((grad_input, grad_output))
+    answer.append([grad.item() for grad in grad_input])

# %% one_model_for_both
# misconception: both kinds on one model, which torch refuses | hint: autopsy_never_ran
# edits: both_full
-legacy_model, full_model = Model(), Model()
+legacy_model = full_model = Model()
@@
-    legacy_model.register_full_backward_hook(collect)
+    legacy_model.register_backward_hook(collect)

# %% only_legacy
# misconception: forgets the full hook | hint: one_report_only
# edits: both_legacy
-    full_model.register_backward_hook(collect)

# %% other_inputs
# misconception: runs at other inputs | hint: autopsy_other_inputs
# breaks: Two models get the same inputs, `x1 = [2.]` and `x2 = [3.]`.
# edits: both_full
-    legacy_model.register_full_backward_hook(collect)
+    legacy_model.register_backward_hook(collect)
@@
-        x1 = torch.tensor([2.0], requires_grad=True)
+        x1 = torch.tensor([1.0], requires_grad=True)

# %% reads_grad_after_both
# misconception: reads x.grad after two passes through the same tensors | hint: adds_up_gradients
# edits: both_legacy
-    full_model.register_backward_hook(collect)
+    x1 = torch.tensor([2.0], requires_grad=True)
+    x2 = torch.tensor([3.0], requires_grad=True)
@@
-        x1 = torch.tensor([2.0], requires_grad=True)
-        x2 = torch.tensor([3.0], requires_grad=True)
@@
+answer.append((x1.grad, x2.grad))

# %% registered_after_the_run
# misconception: registers when the run is over | hint: autopsy_never_ran
# edits: other_inputs
 
+for model in (legacy_model, full_model):
+    x1 = torch.tensor([2.0], requires_grad=True)
+    x2 = torch.tensor([3.0], requires_grad=True)
+    model(x1, x2).backward()
 with warnings.catch_warnings():
@@
-    for model in (legacy_model, full_model):
-        x1 = torch.tensor([1.0], requires_grad=True)
-        x2 = torch.tensor([3.0], requires_grad=True)
-        model(x1, x2).backward()

# %% second_kind_after_the_run
# misconception: the full hook on the model that has the deprecated one | hint: one_report_only
# edits: reads_grad_after_both
-legacy_model, full_model = Model(), Model()
+legacy_model = Model()
@@
-    for model in (legacy_model, full_model):
-        model(x1, x2).backward()
-answer.append((x1.grad, x2.grad))
+    legacy_model(x1, x2).backward()
+    legacy_model.register_full_backward_hook(collect)
+    legacy_model(x1, x2).backward()

# %% swapped
# misconception: the true gradients first | hint: reports_swapped
# breaks: first what the deprecated hook showed, then the true gradients of the inputs
# edits: both_full
-    full_model.register_full_backward_hook(collect)
+    full_model.register_backward_hook(collect)

# %% weight_among_the_inputs
# misconception: believes that grad_input holds the weight's gradient | hint: autopsy_weight_gradient
# edits: both_tuples
-    answer.append((grad_input, grad_output))
+    answer.append((*grad_input, module.W.grad))

# %% full_pre_hook
# misconception: a full backward pre-hook, which gets the gradient of the output | hint: gradients_of_the_output
# edits: both_legacy
-def collect(module, grad_input, grad_output):
+def collect(module, grad_input, grad_output=None):
@@
-    full_model.register_backward_hook(collect)
+    full_model.register_full_backward_pre_hook(collect)
