# nothing to break: Write the context manager `recorder(model, layers)`.

# %% every_call_of_the_layer
# misconception: an entry whenever the layer runs | hint: record_twice | canary
# breaks: If a checkpoint runs one layer
# edits: flag_while_forward
-            if listening:
-                history[name].append(output.detach().square().mean().item())
+            history[name].append(output.detach().square().mean().item())

# %% flag_never_off
# misconception: listens from the first call on, also in backward | hint: record_twice
# edits: flag_while_forward
-        nonlocal listening
-        listening = False
+        pass

# %% calls_are_steps
# misconception: the model itself is never called again | hint: record_model_again
# breaks: the whole `model`
# edits: counts_calls
-        calls += not ModuleTracker().is_bw
+        calls += 1

# %% each_call_is_a_forward
# misconception: while the model runs, it is a forward | hint: record_model_again
# edits: flag_while_forward
-        listening = not ModuleTracker().is_bw
+        listening = True

# %% drops_equal_values
# misconception: takes equal values for the same call | hint: record_drops
# breaks: adds one entry per layer
# edits: every_call_of_the_layer
-            history[name].append(output.detach().square().mean().item())
+            value = output.detach().square().mean().item()
+            if value not in history[name]:
+                history[name].append(value)

# %% only_with_gradients
# misconception: the first forward of a checkpoint is the one that records no gradient | hint: record_drops
# edits: flag_while_forward
-            if listening:
+            if listening and torch.is_grad_enabled():

# %% only_in_training_mode
# misconception: a call in eval mode is no call | hint: record_drops
# edits: flag_while_forward
-            if listening:
+            if listening and module.training:

# %% overwrites_the_step
# misconception: the second forward writes over the entry of the last call | hint: record_overwrites
# edits: counts_calls
-                    if len(entries) != calls:
-                        entries.append(torch.mean(output.detach() * output.detach()).item())
+                    entries[calls - 1 :] = [torch.mean(output.detach() * output.detach()).item()]

# %% not_detached
# misconception: computes with the live output, so the second forward saves less than the first | hint: record_saves
# edits: flag_while_forward
-                history[name].append(output.detach().square().mean().item())
+                history[name].append(output.square().mean().item())

# %% at_the_end
# misconception: hands over when the block ends | hint: record_late
# edits: flag_while_forward
-    history = {name: [] for name in layers}
+    history, waiting = {name: [] for name in layers}, []
@@
-                history[name].append(output.detach().square().mean().item())
+                waiting.append((name, output.detach()))
@@
+        for name, output in waiting:
+            history[name].append(output.square().mean().item())

# %% square_of_the_mean
# misconception: takes the mean first | hint: record_no_squares
# edits: flag_while_forward
-                history[name].append(output.detach().square().mean().item())
+                history[name].append(output.detach().mean().square().item())

# %% tensors
# misconception: keeps tensors | hint: record_tensors
# breaks: as a Python number
# edits: flag_while_forward
-                history[name].append(output.detach().square().mean().item())
+                history[name].append(output.detach().square().mean())

# %% means
# misconception: the mean, without squares | hint: record_no_squares
# breaks: the mean of the squares of the layer's output
# edits: flag_while_forward
-                history[name].append(output.detach().square().mean().item())
+                history[name].append(output.detach().mean().item())

# %% sums
# misconception: the sum of the squares | hint: record_not_mean
# edits: flag_while_forward
-                history[name].append(output.detach().square().mean().item())
+                history[name].append(output.detach().square().sum().item())

# %% root_of_the_mean
# misconception: takes the root as well | hint: record_root
# edits: flag_while_forward
-                history[name].append(output.detach().square().mean().item())
+                history[name].append(output.detach().square().mean().sqrt().item())

# %% last_number_only
# misconception: a number a layer, that of the last call | hint: record_flat
# breaks: It yields a dict
# edits: asks_autograd
-                self.history[name].append(float((output**2).mean()))
+                self.history[name] = float((output**2).mean())

# %% list_of_calls
# misconception: one list for all layers | hint: record_list
# edits: asks_autograd
-        self.history = {name: [] for name in self.layers}
+        self.history = []
@@
-                self.history[name].append(float((output**2).mean()))
+                self.history.append((name, float((output**2).mean())))

# %% once_only
# misconception: one entry in all | hint: record_first_only
# edits: counts_calls
-                    if len(entries) != calls:
+                    if not entries:

# %% late_binding
# misconception: the hook reads the loop's variable | hint: loop_variable
# edits: counts_calls
-                def look(module, args, output, entries=entries):
+                def look(module, args, output):

# %% hooks_stay
# misconception: never removes its hooks | hint: tool_hooks_left
# breaks: no hook is left
# edits: asks_autograd
-        for handle in self.handles:
-            handle.remove()
+        pass

# %% hook_of_the_model_stays
# misconception: forgets the hook on the model itself | hint: tool_hooks_left
# edits: counts_calls
-        stack.enter_context(model.register_forward_pre_hook(count))
+        model.register_forward_pre_hook(count)

# %% no_finally
# misconception: an error in the block leaves the hooks | hint: tool_not_after_error
# breaks: even after an error
# edits: hands_over_at_the_end_of_a_call
-    try:
-        yield history
-    finally:
-        for h in handles:
-            h.remove()
+    yield history
+    for h in handles:
+        h.remove()

# %% enter_returns_nothing
# misconception: hands out nothing | hint: record_hands_out_nothing
# edits: hands_over_at_the_end_of_a_call
-        yield history
+        yield

# %% no_context_manager
# misconception: a function that returns the dict | hint: tool_no_context
# edits: flag_while_forward
-@contextmanager
@@
-    try:
-        yield history
-    finally:
-        for handle in handles:
-            handle.remove()
+    return history

# %% frozen_calls
# misconception: takes an output without a graph for the first forward of a checkpoint | hint: record_drops
# breaks: adds one entry per layer
# edits: every_call_of_the_layer
-            history[name].append(output.detach().square().mean().item())
+            if not ModuleTracker().is_bw and (output.requires_grad or not torch.is_grad_enabled()):
+                history[name].append(output.detach().square().mean().item())
