# %% changes_the_gradient
# misconception: the tensor hook returns what it stores, doubled | hint: watcher_changes_gradient
# edits: multi_grad_hook
+    def keep(grad):
+        gradients.append(grad)
+        return 2 * grad
+
     def forward_hook(module, args, output):
         output = output.clone()
         if output.requires_grad:
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.register_hook(keep)

# %% clone_and_full_hook
# misconception: hands a copy on, and still registers a full backward hook | hint: in_place_after_full_hook
def output_gradients(layer):
    gradients = []
    layer.register_forward_hook(lambda module, args, output: output.clone())
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: gradients.append(grad_output[0]))
    return gradients

# %% extends
# misconception: extends by the gradient | hint: splits_gradient
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.register_hook(gradients.extend)

# %% full_backward_hook
# misconception: a full backward hook, which fails before an in-place operation | hint: in_place_after_full_hook | canary
# edits: clone_and_full_hook
-    layer.register_forward_hook(lambda module, args, output: output.clone())

# %% full_backward_pre_hook
# misconception: a full backward pre-hook, which fails as well | hint: in_place_after_full_hook
# edits: full_backward_hook
-    layer.register_full_backward_hook(lambda module, grad_input, grad_output: gradients.append(grad_output[0]))
+    layer.register_full_backward_pre_hook(lambda module, grad_output: gradients.append(grad_output[0]))

# %% hook_on_all_parameters
# misconception: tensor hooks on all parameters | hint: in_place_of_parameter
# edits: full_backward_hook
-    layer.register_full_backward_hook(lambda module, grad_input, grad_output: gradients.append(grad_output[0]))
+    for parameter in layer.parameters():
+        parameter.register_hook(gradients.append)

# %% hook_on_the_weight
# misconception: a tensor hook on the weight | hint: in_place_of_parameter
# edits: full_backward_hook
-    layer.register_full_backward_hook(lambda module, grad_input, grad_output: gradients.append(grad_output[0]))
+    layer.weight.register_hook(gradients.append)

# %% hook_returns_the_handle
# misconception: a lambda whose value, the handle, becomes the output | hint: watcher_changes_output
def output_gradients(layer):
    gradients = []
    layer.register_forward_hook(
        lambda module, args, output: output.register_hook(gradients.append) if output.requires_grad else None
    )
    return gradients

# %% hooks_a_clone
# misconception: hooks a clone that nobody uses | hint: in_place_outside_of_graph
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.clone().register_hook(gradients.append)

# %% hook_on_the_view
# misconception: a hook on the output, which is left out of the graph if the output is a view | hint: in_place_view
# breaks: even if the output is a view
# edits: reference
-            copy = output.clone()  # no view
-            copy.register_hook(lambda grad: gradients.append(grad.clone()))
-            return copy
+            output.register_hook(gradients.append)

# %% hooks_the_notebook
# misconception: registers on the notebook's network | hint: function_uses_global
net = nn.Linear(3, 4)


def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.append)

    net.register_forward_hook(forward_hook)
    return gradients

# %% keeps_the_alias
# misconception: stores the output, which the ReLU then overwrites | hint: keeps_the_tensor
def output_gradients(layer):
    outputs = []

    def forward_hook(module, args, output):
        outputs.append(output)

    layer.register_forward_hook(forward_hook)
    return outputs

# %% keeps_a_detached_gradient
# misconception: keeps a detached gradient, whose memory autograd goes on using | hint: kept_alias
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.register_hook(lambda grad: gradients.append(grad.detach()))

# %% keeps_the_output
# misconception: stores the output | hint: keeps_the_tensor
def output_gradients(layer):
    outputs = []
    layer.register_forward_hook(lambda module, args, output: outputs.append(output.clone()))
    return outputs

# %% list_for_each_forward
# misconception: empties the list at each forward | hint: keeps_last_only
# edits: hook_on_the_node
-        if output.grad_fn is not None:
-            output.grad_fn.register_prehook(lambda grad_outputs: gradients.append(grad_outputs[0]))
+        gradients.clear()
+        if output.requires_grad:
+            output.register_hook(gradients.append)

# %% mask_of_the_relu
# misconception: masks the gradient as a ReLU would, whatever comes behind | hint: in_place_relu_only
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.register_hook(lambda grad: gradients.append(grad * (output > 0)))

# %% no_grad_forgotten
# misconception: a tensor hook without a look whether there will be a gradient | hint: no_gradient_needed
# breaks: Under `torch.no_grad()`, or if a frozen layer gets data, the model still runs, and nothing is appended.
# edits: hook_on_the_node
-        if output.grad_fn is not None:
-            output.grad_fn.register_prehook(lambda grad_outputs: gradients.append(grad_outputs[0]))
+        output.register_hook(gradients.append)

# %% asks_for_the_mode
# misconception: asks whether gradients are enabled, instead of the tensor whether it requires one | hint: no_gradient_needed
# edits: list_for_each_forward
-        gradients.clear()
-        if output.requires_grad:
+        if torch.is_grad_enabled():

# %% node_of_no_grad
# misconception: a hook on grad_fn, which is None under no_grad | hint: no_gradient_needed
# edits: no_grad_forgotten
-        output.register_hook(gradients.append)
+        output.grad_fn.register_prehook(lambda grads: gradients.append(grads[0]))

# %% not_registered
# misconception: never registers the forward hook | hint: hook_never_ran
# edits: list_for_each_forward
-        gradients.clear()
@@
-    layer.register_forward_hook(forward_hook)

# %% one_list_for_all_layers
# misconception: a global list | hint: shared_list
gradients = []


def output_gradients(layer):
    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.append)

    layer.register_forward_hook(forward_hook)
    return gradients

# %% one_run
# misconception: removes its hook after the first run | hint: runs_only_once
# edits: not_registered
             output.register_hook(gradients.append)
+            handle.remove()
         return output
 
+    handle = layer.register_forward_hook(forward_hook)

# %% reads_grad_too_early
# misconception: reads .grad of the output in the forward hook | hint: grad_not_there_yet
# edits: no_grad_forgotten
-        output.register_hook(gradients.append)
+        gradients.append(output.grad)

# %% retain_grad
# misconception: retain_grad, which means the value behind the in-place operation | hint: in_place_behind
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.retain_grad()
+            layer.weight.register_hook(lambda grad: gradients.append(output.grad))

# %% returns_the_handle
# misconception: returns the handle | hint: returns_no_list
# breaks: Write `output_gradients(layer)`
# breaks: it returns a list
# edits: not_registered
-    return gradients
+    return layer.register_forward_hook(forward_hook)

# %% tuple_of_the_node
# misconception: stores the tuple that a node hook gets | hint: keeps_the_tuple
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.grad_fn.register_prehook(gradients.append)

# %% in_forward_order
# misconception: sorts the gradients by the order of the forward pass | hint: in_place_forward_order
# breaks: in the order of backward
# edits: multi_grad_hook
-    gradients = []
+    gradients, calls, found = [], [], {}
@@
+        number = len(calls)
+        calls.append(number)
+
+        def keep(grad):
+            found[number] = grad
+            gradients[:] = [found[key] for key in sorted(found)]
+
         output = output.clone()
@@
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.register_hook(keep)

# %% makes_data_require_a_gradient
# misconception: makes the output require a gradient, so that the tensor hook can be registered | hint: in_place_asks_for_more
# edits: no_grad_forgotten
+        if not output.requires_grad:
+            output.requires_grad_()
         output.register_hook(gradients.append)

# %% hook_makes_a_new_list
# misconception: the hook makes a new list, which the caller does not hold | hint: other_list_returned
# edits: changes_the_gradient
-        gradients.append(grad)
-        return 2 * grad
+        nonlocal gradients
+        gradients = gradients + [grad]

# %% returns_a_copy
# misconception: returns a copy of the list | hint: other_list_returned
# edits: reference
-    return gradients
+    return list(gradients)
