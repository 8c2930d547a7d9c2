# %% appends_only
# misconception: prints the sum and returns nothing | hint: rebinds_output
add = Add()


def hook(module, args, output):
    print(output + 5)


add.register_forward_hook(hook)

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
# breaks: nor touches the inputs
# edits: appends_only
-    print(output + 5)
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
# edits: appends_only
-    print(output + 5)
+    output = output + 5

# %% not_registered
# misconception: never registers the hook | hint: nothing_registered
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
add = Add()


x1, x2 = torch.rand(1), torch.rand(1)


def hook(module, args, output):
    return x1 + x2 + 5 + 0 * output


add.register_forward_hook(hook)

# %% registered_twice
# misconception: the register line ran twice | hint: module_hook_twice
# edits: not_registered
+
+
+add.register_forward_hook(hook)
+add.register_forward_hook(hook)

# %% returns_a_tuple
# misconception: returns a tuple | hint: tuple_for_output
# edits: appends_only
-    print(output + 5)
+    return (output + 5,)

# %% returns_five
# misconception: returns 5 alone | hint: returns_only_five
# breaks: adds 5 to whatever value `forward` has returned
# edits: appends_only
-    print(output + 5)
+    return torch.tensor([5.0])

# %% runs_forward_again
# misconception: runs forward a second time | hint: recomputes_output
# edits: appends_only
-    print(output + 5)
+    return module.forward(*args) + 5

# %% sums_the_inputs
# misconception: computes the sum again | hint: recomputes_output
# breaks: neither computes that value again
# edits: appends_only
-    print(output + 5)
+    return args[0] + args[1] + 5

# %% two_arguments
# misconception: a forward hook of two arguments | hint: hook_arguments
add = Add()


def hook(module, output):
    output += 5


add.register_forward_hook(hook)

# %% once
# misconception: a hook that removes itself after the first call | hint: runs_only_once
# breaks: each call of `add(x1, x2)` returns 5 more than before
# edits: reference
-    # TODO: make the output 5 larger.
+    handle.remove()
@@
-# TODO: register the hook on `add`.

# %% ones_of_the_default_dtype
# misconception: adds ones of the default dtype, which turn half precision into float32 | hint: five_loses_digits
# breaks: An output of floating-point numbers keeps its dtype
# edits: appends_only
-    print(output + 5)
+    return output + 5 * torch.ones(output.shape)

# %% tensor_from_numbers
# misconception: builds the result anew from numbers, which loses the dtype | hint: five_loses_digits
# edits: appends_only
-    print(output + 5)
+    return torch.tensor(output.tolist()) + 5

# %% inplace
# misconception: output += 5 changes the input if forward hands it through | hint: five_written_into
# edits: appends_only
-    print(output + 5)
+    output += 5

# %% inplace_data
# misconception: output.data is the input's memory | hint: five_written_into
# breaks: It returns a new tensor
# edits: rebinds_and_returns
-def hook(module, input, output):
-    output = output + 5
+def hook(module, args, output):
+    output.data.add_(5)

# %% detach
# misconception: the gradient is gone | hint: cut_from_its_inputs
# breaks: gradients flow on as before
# edits: appends_only
-    print(output + 5)
+    return output.detach() + 5

# %% shape1
# misconception: a scalar becomes a vector of one | hint: hook_changes_shape
# edits: appends_only
-    print(output + 5)
+    return output + torch.tensor([5.0], dtype=output.dtype)

# %% fives_like_x1
# misconception: shape of x1, not of the output | hint: hook_changes_shape
# edits: appends_only
-    print(output + 5)
+    return output + torch.full_like(args[0], 5)

# %% truthy
# misconception: zeros stay zeros | hint: value_taken_for_nothing
# edits: appends_only
-    print(output + 5)
+    if output.any():
+        return output + 5

# %% training
# misconception: not in eval mode | hint: only_in_training
# edits: appends_only
-    print(output + 5)
+    return output + 5 * module.training

# %% buffer
# misconception: an earlier result changes with the next call | hint: cut_from_its_inputs
add = Add()
buf = {}


def hook(module, args, output):
    key = output.shape, output.dtype
    if key not in buf:
        buf[key] = torch.empty_like(output)
    return buf[key].copy_(output.detach() + 5)


add.register_forward_hook(hook)

# %% no_grad_data
# misconception: writes into the memory of the output | hint: five_written_into
# edits: appends_only
-    print(output + 5)
+    with torch.no_grad():
+        output.data += torch.tensor([5.0])

# %% copies_an_input_only
# misconception: copies the output where it is an input, not where it is a view of one | hint: five_written_into
# breaks: It returns a new tensor, for a `forward` may hand an input through
# edits: inplace_data
-    output.data.add_(5)
+    if any(output is x for x in args):
+        output = output.clone()
+    output += 5

# %% asks_for_a_gradient
# misconception: the result requires a gradient, whatever came in | hint: five_asks_for_gradient
# breaks: an output that is made of data alone still requires no gradient
# edits: appends_only
-    print(output + 5)
+    return (output + 5).requires_grad_()

# %% learnable_five
# misconception: the 5 is a parameter | hint: five_asks_for_gradient
add = Add()
five = Parameter(torch.tensor(5.0))


def hook(module, args, output):
    return output + five


add.register_forward_hook(hook)

# %% only_with_gradients
# misconception: adds nothing under no_grad | hint: only_in_training
# breaks: each call of `add(x1, x2)` returns 5 more than before
# edits: truthy
-    if output.any():
+    if torch.is_grad_enabled():

# %% cleans_the_output
# misconception: takes nan and inf out on the way | hint: value_taken_for_nothing
# breaks: The hook adds 5 to whatever value `forward` has returned
# edits: appends_only
-    print(output + 5)
+    return torch.nan_to_num(output) + 5

# %% detaches_what_is_handed_through
# misconception: copies what is an input, or a view of one, and cuts it off with detach | hint: cut_from_its_inputs
# breaks: gradients flow on as before
# edits: appends_only
-    print(output + 5)
+    if any(output is x or output._base is x for x in args):
+        output = output.detach().clone()
+    return output + 5

# %% calls_the_module_again
# misconception: calls the module in its own hook, which calls the hook again | hint: recomputes_output
# breaks: it neither computes that value again
# edits: appends_only
-    print(output + 5)
+    return module(*args) + 5
