# nothing to break: Both inputs have the same shape and dtype

# %% also_normalises_the_weight
# misconception: divides W.grad as well | hint: changes_own_gradient
# breaks: The gradient of `W` stays as it was.
# edits: comprehension
+model.W.register_hook(lambda grad: grad / grad.sum())

# %% assigns_into_the_tuple
# misconception: assigns to an entry of the tuple | hint: tuple_is_fixed
# edits: a_list_of_two
-    return [grad / total for grad in grad_input]
+    grad_input[0] = grad_input[0] / total
+    grad_input[1] = grad_input[1] / total

# %% divides_by_grad_output
# misconception: takes the output's gradient for the sum | hint: divides_by_upstream
# edits: a_list_of_two
-    total = sum(grad_input)
-    return [grad / total for grad in grad_input]
+    return tuple(grad / grad_output[0] for grad in grad_input)

# %% divides_in_a_pre_hook
# misconception: a pre-hook, which only gets the gradient of the output | hint: divides_by_upstream
# edits: comprehension
-def module_hook(module, grad_input, grad_output):
-    total = sum(grad_input)
-    return tuple(grad / total for grad in grad_input)
+def module_hook(module, grad_output):
+    return (grad_output[0] / grad_output[0].sum(),)
@@
-model.register_full_backward_hook(module_hook)
+model.register_full_backward_pre_hook(module_hook)

# %% each_by_its_own_sum
# misconception: each gradient by the sum of its own elements | hint: sums_everything
# edits: divides_by_grad_output
-    return tuple(grad / grad_output[0] for grad in grad_input)
+    return tuple(grad / grad.sum() for grad in grad_input)

# %% forgets_return
# misconception: computes but does not return | hint: computes_without_returning | canary
# edits: a_list_of_two
-    return [grad / total for grad in grad_input]
+    grad_input = tuple(grad / total for grad in grad_input)

# %% halves
# misconception: writes two halves | hint: only_the_sum_is_right
# edits: divides_by_grad_output
-    return tuple(grad / grad_output[0] for grad in grad_input)
+    return tuple(torch.full_like(grad, 0.5) for grad in grad_input)

# %% in_place_one_after_another
# misconception: divides in place, and sums anew in between | hint: uses_a_changed_value
# edits: a_list_of_two
-    total = sum(grad_input)
-    return [grad / total for grad in grad_input]
+    g1, g2 = grad_input
+    g1 /= g1 + g2
+    g2 /= g1 + g2

# %% legacy_register
# misconception: registers the deprecated hook | hint: hook_changes_shape
# edits: comprehension
-model.register_full_backward_hook(module_hook)
+with warnings.catch_warnings():
+    warnings.simplefilter("ignore")
+    model.register_backward_hook(module_hook)

# %% norm_of_absolutes
# misconception: divides by the sum of absolute values | hint: sum_of_magnitudes
# edits: divides_by_grad_output
-    return tuple(grad / grad_output[0] for grad in grad_input)
+    return tuple(F.normalize(torch.stack(grad_input), p=1, dim=0))

# %% not_registered
# misconception: never registers the hook | hint: nothing_registered
# breaks: register it on `model`
# edits: comprehension
-
-
-model.register_full_backward_hook(module_hook)

# %% one_and_zero
# misconception: writes one and zero | hint: only_the_sum_is_right
# edits: divides_by_grad_output
-    return tuple(grad / grad_output[0] for grad in grad_input)
+    return torch.ones_like(grad_input[0]), torch.zeros_like(grad_input[1])

# %% one_tensor
# misconception: returns one tensor | hint: full_hook_return
# edits: divides_by_grad_output
-    return tuple(grad / grad_output[0] for grad in grad_input)
+    return grad_input[0] / sum(grad_input)

# %% shares_of_globals
# misconception: the ratio from the notebook's tensors | hint: reads_globals
# edits: comprehension
+x1, x2 = torch.rand(1), torch.rand(1)
+
+
 def module_hook(module, grad_input, grad_output):
-    total = sum(grad_input)
-    return tuple(grad / total for grad in grad_input)
+    return tuple(0 * grad + share / (x1 + x2) for grad, share in zip(grad_input, (x2, x1)))

# %% shares_of_remembered_inputs
# misconception: the ratio that holds for a product only | hint: formula_of_visible_forward
# edits: shares_of_globals
-x1, x2 = torch.rand(1), torch.rand(1)
+inputs = []
+
+
+def remember(module, args):
+    inputs[:] = [value.detach() for value in args]
@@
-    return tuple(0 * grad + share / (x1 + x2) for grad, share in zip(grad_input, (x2, x1)))
+    x1, x2 = inputs
+    return x2 / (x1 + x2), x1 / (x1 + x2)
@@
+model.register_forward_pre_hook(remember)
+
 model.register_full_backward_hook(module_hook)

# %% softmax
# misconception: softmax has the sum 1 too | hint: only_the_sum_is_right
# edits: divides_by_grad_output
-    return tuple(grad / grad_output[0] for grad in grad_input)
+    return tuple(torch.softmax(torch.stack(grad_input), dim=0))

# %% swapped
# misconception: returns the shares in the other order | hint: swaps_gradients
# edits: divides_by_grad_output
-    return tuple(grad / grad_output[0] for grad in grad_input)
+    g1, g2 = grad_input
+    return g2 / (g1 + g2), g1 / (g1 + g2)

# %% three_gradients
# misconception: returns the output's gradient as well | hint: full_hook_return
# edits: a_list_of_two
-    return [grad / total for grad in grad_input]
+    return (*[grad / total for grad in grad_input], grad_output[0])

# %% total_of_all_elements
# misconception: one sum over all elements | hint: sums_everything
# edits: comprehension
-    total = sum(grad_input)
+    total = grad_input[0].sum() + grad_input[1].sum()

# %% two_arguments
# misconception: a backward hook of two arguments | hint: hook_arguments
# edits: comprehension
-def module_hook(module, grad_input, grad_output):
+def module_hook(grad_input, grad_output):

# %% once
# misconception: a hook that removes itself after the first pass | hint: runs_only_once
# breaks: In each backward pass it divides both input gradients
# edits: comprehension
 def module_hook(module, grad_input, grad_output):
+    handle.remove()
@@
-model.register_full_backward_hook(module_hook)
+handle = model.register_full_backward_hook(module_hook)

# %% clamp
# misconception: shares clamped to 0..1 | hint: shares_clamped
# edits: swapped
-    return g2 / (g1 + g2), g1 / (g1 + g2)
+    t = g1 + g2
+    return (g1 / t).clamp(0, 1), (g2 / t).clamp(0, 1)

# %% a_generator
# misconception: a comprehension in round parentheses, taken for a tuple | hint: stop_generator
# edits: in_place_with_a_kept_sum
-    for grad in grad_input:
-        grad.div_(total)
+    return (grad / total for grad in grad_input)
