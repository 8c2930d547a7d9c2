# %% appends_only
# misconception: prints the sum and returns nothing | hint: rebinds_output
# edits: in_place
-    output += 5
+    print(output + 5)

# %% backward_hook
# misconception: a backward hook, whose return value is for gradients | hint: hook_never_ran
add = Add()


def hook(module, grad_input, grad_output):
    return tuple(grad + 5 for grad in grad_input)


add.register_full_backward_hook(hook)

# %% both_inputs_by_pre_hook
# misconception: adds 5 to both inputs | hint: five_to_an_input
add = Add()


def hook(module, args):
    return tuple(value + 5 for value in args)


add.register_forward_pre_hook(hook)

# %% changes_inputs_after_forward
# misconception: changes an input in place when forward is over | hint: five_to_an_input
# edits: in_place
-    output += 5
+    args[0].add_(5)

# %% first_input_by_pre_hook
# misconception: adds 5 to the first input | hint: five_to_an_input
# edits: both_inputs_by_pre_hook
-    return tuple(value + 5 for value in args)
+    x1, x2 = args
+    return x1 + 5, x2

# %% input_in_place_before
# misconception: changes the caller's input in place | hint: five_to_an_input
# edits: both_inputs_by_pre_hook
-    return tuple(value + 5 for value in args)
+    args[1].add_(5)

# %% moves_the_name
# misconception: gives the name another value and returns nothing | hint: rebinds_output
# edits: in_place
-    output += 5
+    output = output + 5

# %% not_registered
# misconception: never registers the hook | hint: nothing_registered | canary
# breaks: register it on `add`
add = Add()


def hook(module, args, output):
    return output + 5

# %% one_input_for_two
# misconception: a pre-hook that returns one tensor | hint: drops_argument
# edits: both_inputs_by_pre_hook
-    return tuple(value + 5 for value in args)
+    return args[0] + 5

# %% reads_globals
# misconception: adds to the notebook's tensors | hint: reads_globals
# edits: in_place
+x1, x2 = torch.rand(1), torch.rand(1)
+
+
 def hook(module, args, output):
-    output += 5
+    return x1 + x2 + 5 + 0 * output

# %% registered_twice
# misconception: the register line ran twice | hint: module_hook_twice
# edits: in_place
-    output += 5
+    return output + 5
@@
+add.register_forward_hook(hook)

# %% returns_a_tuple
# misconception: returns a tuple | hint: tuple_for_output
# edits: in_place
-    output += 5
+    return (output + 5,)

# %% returns_five
# misconception: returns 5 alone | hint: returns_only_five
# breaks: Add the 5 to what `forward` has returned
# edits: in_place
-    output += 5
+    return torch.tensor([5.0])

# %% runs_forward_again
# misconception: runs forward a second time | hint: recomputes_output
# edits: in_place
-    output += 5
+    return module.forward(*args) + 5

# %% sums_the_inputs
# misconception: computes the sum again | hint: recomputes_output
# breaks: what `forward` has returned: the check also tries a different `forward` in `add`
# edits: in_place
-    output += 5
+    return args[0] + args[1] + 5

# %% two_arguments
# misconception: a forward hook of two arguments | hint: hook_arguments
# edits: in_place
-def hook(module, args, output):
+def hook(module, output):

# %% once
# misconception: a hook that removes itself after the first call | hint: runs_only_once
# breaks: each call `add(x1, x2)` returns 5 more than before
# edits: reference
-    # TODO: make the output 5 larger.
+    handle.remove()
@@
-# TODO: register the hook on `add`.

# %% detach
# misconception: the gradient is gone | hint: cut_from_its_inputs
# edits: in_place
-    output += 5
+    return output.detach() + 5

# %% shape1
# misconception: a scalar becomes a vector of one | hint: hook_changes_shape
# edits: in_place
-    output += 5
+    return output + torch.tensor([5.0], dtype=output.dtype)

# %% fives_like_x1
# misconception: shape of x1, not of the output | hint: hook_changes_shape
# edits: in_place
-    output += 5
+    return output + torch.full_like(args[0], 5)

# %% registers_the_result
# misconception: calls the hook, and registers what it returns | hint: called_at_once
# edits: in_place
-add.register_forward_hook(hook)
+add.register_forward_hook(hook(add, (), torch.zeros(1)))

# %% only_with_gradients
# misconception: adds nothing under no_grad | hint: only_in_training
# breaks: each call `add(x1, x2)` returns 5 more than before
# edits: in_place
-    output += 5
+    if torch.is_grad_enabled():
+        return output + 5

# %% calls_the_module_again
# misconception: calls the module in its own hook, which calls the hook again | hint: recomputes_output
# breaks: what `forward` has returned: the check also tries a different `forward` in `add`
# edits: in_place
-    output += 5
+    return module(*args) + 5
