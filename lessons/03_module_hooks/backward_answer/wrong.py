# %% formula_from_globals
# misconception: product rule on the notebook's tensors | hint: reads_globals
# edits: clones_in_a_comprehension
+x1, x2 = torch.rand(1), torch.rand(1)
+
+
 def module_hook(module, grad_input, grad_output):
-    answer.extend(grad.detach().clone() for grad in (*grad_input, *grad_output))
-    return grad_input
+    g = grad_output[0]
+    answer.extend([g * x2 * module.W.detach(), g * x1 * module.W.detach(), g])

# %% lambda_returns_nones
# misconception: a lambda whose tuple of None replaces the gradients | hint: watcher_changes_gradient
model = Model()
answer = []


module_hook = lambda module, grad_input, grad_output: (answer.extend(grad_input), answer.extend(grad_output))

model.register_full_backward_hook(module_hook)

# %% local_answer
# misconception: assigns to a local answer | hint: stores_nothing
# edits: clones_in_a_comprehension
-    answer.extend(grad.detach().clone() for grad in (*grad_input, *grad_output))
-    return grad_input
+    answer = [*grad_input, *grad_output]

# %% appends_both_tuples
# misconception: both tuples as entries | hint: keeps_the_tuple
# edits: local_answer
-    answer = [*grad_input, *grad_output]
+    answer.append(grad_input)
+    answer.append(grad_output)

# %% appends_grad_output_tuple
# misconception: the tuple of output gradients as one entry | hint: keeps_the_tuple
# edits: appends_both_tuples
-    answer.append(grad_input)
+    answer.extend(grad_input)

# %% derivative_by_hand
# misconception: works the derivatives out, without what arrives | hint: derivative_by_hand
# edits: local_answer
-    answer = [*grad_input, *grad_output]
+    answer.extend([inputs[1] * module.W, inputs[0] * module.W, *grad_output])
@@
+model.register_forward_pre_hook(lambda module, args: globals().update(inputs=args))
 model.register_full_backward_hook(module_hook)

# %% multiplies_again
# misconception: takes grad_input for the module's own derivative | hint: chain_rule_again
# edits: local_answer
-    answer = [*grad_input, *grad_output]
+    answer.extend([*(one * grad_output[0] for one in grad_input), *grad_output])

# %% no_output_gradient
# misconception: only the inputs' gradients | hint: one_side_missing
# edits: appends_grad_output_tuple
-    answer.append(grad_output)

# %% output_first
# misconception: the order in which backward meets them | hint: wrong_order
# breaks: in this order: what comes back through `model` for `x1`, what comes back for `x2`, and the gradient of the output
# edits: no_output_gradient
+    answer.extend(grad_output)
     answer.extend(grad_input)

# %% product_rule
# misconception: product rule on remembered inputs | hint: formula_of_visible_forward
# edits: lambda_returns_nones
-module_hook = lambda module, grad_input, grad_output: (answer.extend(grad_input), answer.extend(grad_output))
+inputs = []
+
+
+def remember(module, args):
+    inputs[:] = [value.detach() for value in args]
+
+
+def module_hook(module, grad_input, grad_output):
+    g, W = grad_output[0], module.W.detach()
+    answer.extend([g * inputs[1] * W, g * inputs[0] * W, g])
+
+
+model.register_forward_pre_hook(remember)

# %% reads_grad_attribute
# misconception: reads .grad, which is not there yet | hint: grad_not_there_yet
# edits: product_rule
-    inputs[:] = [value.detach() for value in args]
+    inputs[:] = args
@@
-    g, W = grad_output[0], module.W.detach()
-    answer.extend([g * inputs[1] * W, g * inputs[0] * W, g])
+    answer.extend(value.grad for value in inputs)
+    answer.append(grad_output[0])

# %% returns_all_three
# misconception: returns what it collected | hint: full_hook_return
# edits: appends_grad_output_tuple
-    answer.append(grad_output)
+    answer.append(grad_output[0])
+    return answer

# %% registered_twice
# misconception: the register line ran twice | hint: module_hook_twice
# edits: returns_all_three
-    return answer
@@
+model.register_full_backward_hook(module_hook)

# %% backward_pre_register
# misconception: registered as a backward pre-hook | hint: hook_arguments
# edits: registered_twice
-model.register_full_backward_hook(module_hook)
-model.register_full_backward_hook(module_hook)
+model.register_full_backward_pre_hook(module_hook)

# %% forward_register
# misconception: registered as a forward hook | hint: forward_instead_of_backward
# edits: backward_pre_register
-model.register_full_backward_pre_hook(module_hook)
+model.register_forward_hook(module_hook)

# %% hook_on_the_weight
# misconception: registers on the parameter, as a tensor hook | hint: hook_arguments
# edits: backward_pre_register
-model.register_full_backward_pre_hook(module_hook)
+model.W.register_hook(module_hook)

# %% hooks_the_weight_only
# misconception: a tensor hook on the parameter that keeps its gradient | hint: parameter_instead_of_module
# edits: hook_on_the_weight
-def module_hook(module, grad_input, grad_output):
-    answer.extend(grad_input)
-    answer.append(grad_output[0])
+def module_hook(grad):
+    answer.extend([grad, grad, grad])

# %% legacy_register
# misconception: registers the deprecated hook | hint: legacy_hook
# breaks: the full backward hook `module_hook`
# edits: backward_pre_register
-model.register_full_backward_pre_hook(module_hook)
+with warnings.catch_warnings():
+    warnings.simplefilter("ignore")
+    model.register_backward_hook(module_hook)

# %% not_registered
# misconception: never registers the hook | hint: nothing_registered | canary
# edits: backward_pre_register
-
-
-model.register_full_backward_pre_hook(module_hook)

# %% returns_scaled
# misconception: also doubles the gradients | hint: watcher_changes_gradient
# breaks: The hook only watches
# edits: returns_all_three
-    return answer
+    return tuple(grad * 2 for grad in grad_input)

# %% takes_output_gradient_apart
# misconception: extends by the tensor instead of the tuple | hint: takes_elements_apart
# edits: appends_grad_output_tuple
-    answer.append(grad_output)
+    answer.extend(grad_output[0])

# %% once
# misconception: a hook that removes itself after the first pass | hint: runs_only_once
# breaks: Each backward pass through `model(x1, x2)`
# edits: local_answer
-    answer = [*grad_input, *grad_output]
+    answer.extend([*grad_input, *grad_output])
+    handle.remove()
@@
-model.register_full_backward_hook(module_hook)
+handle = model.register_full_backward_hook(module_hook)

# %% tensor_method_on_the_module
# misconception: the tensor's register_hook on a module, which stops the cell | hint: nothing_registered
# edits: not_registered
-    answer.append(grad_output[0])
+    answer.extend(grad_output)
+
+
+model.register_hook(module_hook)

# %% accumulated
# misconception: .grad, with the earlier passes in it | hint: accumulated_grad
# edits: derivative_by_hand
-    answer.extend([inputs[1] * module.W, inputs[0] * module.W, *grad_output])
+    start = len(answer)
+    answer.extend((*grad_input, *grad_output))
+    for i, x in enumerate(inputs):
+        if x.grad is not None:
+            answer[start + i] = x.grad + grad_input[i]
@@
-model.register_forward_pre_hook(lambda module, args: globals().update(inputs=args))
+inputs = []
+
+
+def remember(module, args):
+    inputs[:] = args
+
+
+model.register_forward_pre_hook(remember)

# %% clear
# misconception: starts anew each pass | hint: earlier_entries_lost
# edits: local_answer
-    answer = [*grad_input, *grad_output]
+    answer[:] = [*grad_input, *grad_output]

# %% only_in_training_mode
# misconception: asks for the training mode | hint: only_in_training
# edits: local_answer
-    answer = [*grad_input, *grad_output]
+    if module.training:
+        answer.extend(grad_input + grad_output)

# %% unpacks_three
# misconception: takes grad_input for the gradients of x1, x2 and W | hint: weight_in_grad_input
# edits: local_answer
-    answer = [*grad_input, *grad_output]
+    g1, g2, g_weight = grad_input
+    answer.extend([g1, g2, grad_output[0]])

# %% weight_for_x2
# misconception: takes the gradient of W for that of x2 | hint: parameter_instead_of_module
# edits: local_answer
-    answer = [*grad_input, *grad_output]
+    answer.extend([grad_input[0], module.W.grad, grad_output[0]])

# %% weight_for_output
# misconception: takes the gradient of W for that of the output | hint: parameter_instead_of_module
# edits: appends_grad_output_tuple
-    answer.append(grad_output)
+    answer.append(module.W.grad)
