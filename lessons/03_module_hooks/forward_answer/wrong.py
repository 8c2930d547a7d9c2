# %% appends_the_tuple
# misconception: the tuple of inputs as one entry | hint: keeps_the_tuple
# edits: loop_over_inputs
-def pre_hook(module, input):
-    for value in input:
-        answer.append(value)
+def pre_hook(module, args):
+    answer.append(args)
 
 
-def hook(module, input, output):
+def hook(module, args, output):

# %% backward_hook_instead
# misconception: a full backward hook, which never runs in forward | hint: one_side_missing
# edits: appends_the_tuple
-    answer.append(args)
+    answer.extend(args)
@@
-add.register_forward_hook(hook)
+add.register_full_backward_hook(hook)

# %% forgets_to_register_hook
# misconception: the second hook is not registered | hint: one_side_missing | canary
# breaks: appends three tensors to the list `answer`
# edits: backward_hook_instead
-add.register_full_backward_hook(hook)

# %% first_input_only
# misconception: the first input only | hint: one_side_missing
# edits: appends_the_tuple
-    answer.append(args)
+    answer.append(args[0])

# %% inputs_reversed
# misconception: the inputs in reverse order | hint: wrong_order
# breaks: `x1`, `x2` and the output, in this order
# edits: appends_the_tuple
-    answer.append(args)
+    for value in args:
+        answer.insert(0, value)

# %% lambda_returns_a_tuple
# misconception: a lambda whose value replaces the output | hint: watcher_changes_output
# breaks: Both hooks only watch
# edits: forgets_to_register_hook
-def hook(module, args, output):
-    answer.append(output)
+hook = lambda module, args, output: (answer.append(output), print(output))
@@
+add.register_forward_hook(hook)

# %% local_answer
# misconception: assigns to a local answer | hint: stores_nothing
# edits: appends_the_tuple
-    answer.append(args)
+    answer = list(args)
@@
-    answer.append(output)
+    answer = [*args, output]

# %% output_first
# misconception: output in front of the inputs | hint: wrong_order
# edits: lambda_returns_a_tuple
-hook = lambda module, args, output: (answer.append(output), print(output))
+def hook(module, args, output):
+    answer.insert(0, output)

# %% adds_to_a_local_answer
# misconception: assigns to the notebook's list inside the hook with += | hint: undefined_name
# edits: appends_the_tuple
-    answer.append(args)
+    answer += args

# %% plain_numbers
# misconception: stores lists of numbers | hint: numbers_for_tensors
# edits: appends_the_tuple
-    answer.append(args)
+    answer.extend(value.tolist() for value in args)
@@
-    answer.append(output)
+    answer.append(output.tolist())

# %% reads_globals
# misconception: stores the notebook's tensors | hint: reads_globals
# edits: appends_the_tuple
+x1, x2 = torch.rand(3), torch.rand(3)
+
+
 def pre_hook(module, args):
-    answer.append(args)
+    answer.append(x1)
+    answer.append(x2)
@@
-    answer.append(output)
+    answer.append(x1 + x2)

# %% registered_twice
# misconception: the register lines ran twice | hint: module_hook_twice
# edits: forgets_to_register_hook
+add.register_forward_hook(hook)
+add.register_forward_pre_hook(pre_hook)
+add.register_forward_hook(hook)

# %% registers_nothing
# misconception: defines hooks without registering | hint: nothing_registered
# edits: forgets_to_register_hook
-
-
-add.register_forward_pre_hook(pre_hook)

# %% runs_forward_again
# misconception: runs forward a second time | hint: recomputes_output
# edits: output_first
-    answer.insert(0, output)
+    answer.append(module.forward(*args))

# %% returns_the_answer
# misconception: the pre-hook returns the list, which becomes the only input | hint: drops_argument
# edits: appends_the_tuple
-    answer.append(args)
+    answer.extend(args)
+    return answer

# %% scales_the_inputs
# misconception: the pre-hook normalises what goes in | hint: watcher_changes_output
# edits: output_first
     answer.extend(args)
+    return tuple(value / value.norm() for value in args)
@@
-    answer.insert(0, output)
+    answer.append(answer[0] + answer[1])

# %% sum_of_inputs
# misconception: computes the output by the visible formula | hint: formula_of_visible_forward
# breaks: Store what the hooks get, compute nothing
# edits: output_first
-    answer.insert(0, output)
+    answer.append(args[0] + args[1])

# %% calls_the_module_again
# misconception: calls the module in its own hook, which calls the hook again | hint: recomputes_output
# edits: output_first
-    answer.insert(0, output)
+    answer.append(module(*args))

# %% two_arguments
# misconception: a forward hook of two arguments | hint: hook_arguments
# edits: lambda_returns_a_tuple
-hook = lambda module, args, output: (answer.append(output), print(output))
+def hook(module, output):
+    answer.append(output)

# %% once
# misconception: hooks that remove themselves after the first call | hint: runs_only_once
# edits: registers_nothing
     answer.extend(args)
+    pre_handle.remove()
@@
+    handle.remove()
+
+
+pre_handle = add.register_forward_pre_hook(pre_hook)
+handle = add.register_forward_hook(hook)

# %% extends_by_the_output_only
# misconception: extend for inputs and output alike, which takes the output apart | hint: takes_elements_apart
# edits: output_first
-    answer.insert(0, output)
+    answer.extend(output)

# %% detach_out
# misconception: returns a detached output | hint: cut_from_its_inputs
# edits: extends_by_the_output_only
-    answer.extend(output)
+    answer.append(output)
+    return output.detach()

# %% clear
# misconception: earlier entries are dropped | hint: earlier_entries_lost
# edits: appends_the_tuple
-    answer.append(args)
+    answer.clear()
+    answer.extend(args)

# %% no_grad_skips
# misconception: nothing for outputs that require no gradient | hint: only_in_training
# edits: appends_the_tuple
-    answer.append(args)
+    if torch.is_grad_enabled():
+        answer.extend(args)
@@
-    answer.append(output)
+    if torch.is_grad_enabled():
+        answer.append(output)

# %% both_hooks_store_inputs
# misconception: the forward hook gets the inputs as well, and stores them again | hint: inputs_stored_twice
# edits: appends_the_tuple
-    answer.append(args)
+    for x in args:
+        answer.append(x)
@@
-    answer.append(output)
+    for x in (*args, output):
+        answer.append(x)
