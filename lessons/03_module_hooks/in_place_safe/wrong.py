# nothing to break: Write `output_gradients(layer)`, for a layer that puts out one tensor.
# nothing to break: The layer has a parameter that learns, and its output is neither one of several results of one operation

# %% asks_when_the_network_has_run
# misconception: waits for the weight's gradient and reads that of the tensor's last value | hint: in_place_behind
def output_gradients(layer):
    gradients, outputs = [], []

    def forward_hook(module, args, output):
        output.retain_grad()
        outputs.append(output)

    def read(parameter):
        gradients.append(outputs.pop().grad)

    layer.register_forward_hook(forward_hook)
    layer.weight.register_post_accumulate_grad_hook(read)
    return gradients

# %% changes_the_gradient
# misconception: the tensor hook returns what it stores, doubled | hint: watcher_changes_gradient
# breaks: no gradient does
def output_gradients(layer):
    gradients = []

    def keep(grad):
        gradients.append(grad)
        return 2 * grad

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(keep)

    layer.register_forward_hook(forward_hook)
    return gradients

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
# misconception: a full backward hook, which fails before an in-place operation | hint: in_place_after_full_hook
# breaks: It works with any in-place operation right after the layer.
# edits: clone_and_full_hook
-    layer.register_forward_hook(lambda module, args, output: output.clone())

# %% full_backward_pre_hook
# misconception: a full backward pre-hook, which fails as well | hint: in_place_after_full_hook
def output_gradients(layer):
    gradients = []
    layer.register_full_backward_pre_hook(lambda module, grad_output: gradients.append(grad_output[0]))
    return gradients

# %% hook_on_all_parameters
# misconception: tensor hooks on all parameters | hint: in_place_of_parameter
def output_gradients(layer):
    gradients = []
    for parameter in layer.parameters():
        parameter.register_hook(gradients.append)
    return gradients

# %% hook_on_the_weight
# misconception: a tensor hook on the weight | hint: in_place_of_parameter
# breaks: the gradient of what `layer` has put out, as a tensor
def output_gradients(layer):
    gradients = []
    layer.weight.register_hook(gradients.append)
    return gradients

# %% hook_returns_the_handle
# misconception: a lambda whose value, the handle, becomes the output | hint: watcher_changes_output
# breaks: What the model puts out does not change
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

# %% hooks_a_detached_copy
# misconception: hooks a detached copy | hint: in_place_outside_of_graph
# edits: hook_on_the_node
-        if output.grad_fn is not None:
-            output.grad_fn.register_prehook(lambda grad_outputs: gradients.append(grad_outputs[0]))
+        copy = output.detach().clone().requires_grad_()
+        copy.register_hook(gradients.append)

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
# misconception: stores the output, which the ReLU then overwrites | hint: in_place_behind
def output_gradients(layer):
    outputs = []

    def forward_hook(module, args, output):
        outputs.append(output)

    layer.register_forward_hook(forward_hook)
    return outputs

# %% keeps_the_output
# misconception: stores the output | hint: keeps_the_tensor
def output_gradients(layer):
    outputs = []
    layer.register_forward_hook(lambda module, args, output: outputs.append(output.clone()))
    return outputs

# %% legacy_hook
# misconception: the deprecated hook | hint: legacy_hook
# breaks: The deprecated hook does not count.
def output_gradients(layer):
    gradients = []
    layer.register_backward_hook(lambda module, grad_input, grad_output: gradients.append(grad_output[0]))
    return gradients

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
# breaks: Running the model under `torch.no_grad()` adds nothing and still works.
# edits: hook_on_the_node
-        if output.grad_fn is not None:
-            output.grad_fn.register_prehook(lambda grad_outputs: gradients.append(grad_outputs[0]))
+        output.register_hook(gradients.append)

# %% node_of_no_grad
# misconception: a hook on grad_fn, which is None under no_grad | hint: no_gradient_needed
# edits: hook_on_the_node
-        if output.grad_fn is not None:
-            output.grad_fn.register_prehook(lambda grad_outputs: gradients.append(grad_outputs[0]))
+        output.grad_fn.register_prehook(lambda grads: gradients.append(grads[0]))

# %% not_registered
# misconception: never registers the forward hook | hint: hook_never_ran
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.append)

    return gradients

# %% one_list_for_all_layers
# misconception: a global list | hint: shared_list
# breaks: each layer has a list of its own
gradients = []


def output_gradients(layer):
    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.append)

    layer.register_forward_hook(forward_hook)
    return gradients

# %% one_run
# misconception: removes its hook after the first run | hint: runs_only_once
# breaks: to which each backward pass adds
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.append)
            handle.remove()

    handle = layer.register_forward_hook(forward_hook)
    return gradients

# %% reads_grad_too_early
# misconception: reads .grad of the output in the forward hook | hint: grad_not_there_yet
# edits: hook_on_the_node
-        if output.grad_fn is not None:
-            output.grad_fn.register_prehook(lambda grad_outputs: gradients.append(grad_outputs[0]))
+        gradients.append(output.grad)

# %% retain_grad
# misconception: retain_grad, which means the value behind the in-place operation | hint: in_place_behind
# breaks: of the value that came out of the layer, before anybody changed it in place
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.retain_grad()
+            layer.weight.register_hook(lambda grad: gradients.append(output.grad))

# %% returns_the_handle
# misconception: returns the handle | hint: returns_no_list
# breaks: It returns a list
# edits: not_registered
-    return gradients
+    return layer.register_forward_hook(forward_hook)

# %% the_last_only
# misconception: keeps the last gradient | hint: keeps_last_only
# breaks: each of its outputs has an entry of its own
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        def keep(grad):
            gradients[:] = [grad]

        if output.requires_grad:
            output.register_hook(keep)

    layer.register_forward_hook(forward_hook)
    return gradients

# %% tuple_of_the_node
# misconception: stores the tuple that a node hook gets | hint: keeps_the_tuple
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.grad_fn.register_prehook(gradients.append)

# %% in_forward_order
# misconception: sorts the gradients by the order of the forward pass | hint: in_place_forward_order
# breaks: in the order in which backward comes to them
def output_gradients(layer):
    gradients, calls, found = [], [], {}

    def forward_hook(module, args, output):
        number = len(calls)
        calls.append(number)

        def keep(grad):
            found[number] = grad
            gradients[:] = [found[key] for key in sorted(found)]

        if output.requires_grad:
            output.register_hook(keep)

    layer.register_forward_hook(forward_hook)
    return gradients

# %% makes_data_require_a_gradient
# misconception: makes the output require a gradient, so that the tensor hook can be registered | hint: in_place_asks_for_more
# edits: detached_copies
-            return
-        output.register_hook(lambda grad: gradients.append(grad.detach().clone()))
+            output.requires_grad_()
+        output.register_hook(gradients.append)

# %% clears_the_dict
# misconception: clears the layer's dict of hooks, so that the cell can run again | hint: removes_other_hooks
# breaks: and hooks of others stay
# edits: not_registered

+    layer._forward_hooks.clear()
+    layer.register_forward_hook(forward_hook)
     return gradients

# %% hook_of_one_pass
# misconception: removes the tensor hook after its first gradient | hint: runs_only_once
# breaks: also a second one through the same graph
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            handle = output.register_hook(lambda grad: (gradients.append(grad), handle.remove())[1])

# %% as_float32
# misconception: keeps the gradients as float32 | hint: float64_lost
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.register_hook(lambda grad: gradients.append(grad.detach().float()))

# %% only_in_training
# misconception: hangs a hook on the output in training mode only | hint: only_in_training
# breaks: Each backward pass counts, in any mode and dtype
# edits: hook_on_the_node
-        if output.grad_fn is not None:
-            output.grad_fn.register_prehook(lambda grad_outputs: gradients.append(grad_outputs[0]))
+        if output.requires_grad and module.training:
+            output.register_hook(gradients.append)

# %% zeros_left_out
# misconception: leaves out a gradient of zeros | hint: value_taken_for_nothing
# breaks: whatever numbers it brings
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.register_hook(lambda grad: gradients.append(grad) if grad.any() else None)

# %% without_dimensions_of_one
# misconception: squeezes the gradient | hint: in_place_other_shape
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.register_hook(lambda grad: gradients.append(grad.squeeze()))

# %% in_rows
# misconception: makes rows of a gradient with more dimensions | hint: in_place_other_shape
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.register_hook(lambda grad: gradients.append(grad.reshape(-1, grad.shape[-1])))

# %% each_part
# misconception: hangs a hook on each part of a block as well | hint: in_place_of_parts
# edits: clears_the_dict
-    layer._forward_hooks.clear()
-    layer.register_forward_hook(forward_hook)
+    for part in layer.modules():
+        part.register_forward_hook(forward_hook)

# %% the_last_part
# misconception: takes the last part of a block for the block | hint: in_place_of_parts
# edits: clears_the_dict
-    layer._forward_hooks.clear()
-    layer.register_forward_hook(forward_hook)
+    list(layer.modules())[-1].register_forward_hook(forward_hook)

# %% finite_ones_only
# misconception: leaves out gradients that are not finite | hint: value_taken_for_nothing
# edits: multi_grad_hook
-            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
+            output.register_hook(lambda grad: gradients.append(grad) if grad.isfinite().all() else None)

# %% hands_a_detached_gradient_on
# misconception: the tensor hook gives a detached gradient back | hint: cut_from_its_inputs
# breaks: no gradient does
def output_gradients(layer):
    gradients = []

    def note(grad):
        grad = grad.detach()
        gradients.append(grad)
        return grad

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(note)

    layer.register_forward_hook(forward_hook)
    return gradients

# %% list_on_the_layer
# misconception: keeps the list on the layer, where a second call replaces it | hint: first_list_taken_away
# breaks: to which each backward pass adds the gradient
def output_gradients(layer):
    layer.gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(lambda grad: module.gradients.append(grad))

    layer.register_forward_hook(forward_hook)
    return layer.gradients

# %% equal_gradients_once
# misconception: leaves a gradient out that equals the last one | hint: first_layer_leaves_repetitions_out
# breaks: Each backward pass counts
# edits: hands_a_detached_gradient_on
-        grad = grad.detach()
-        gradients.append(grad)
-        return grad
+        if not (gradients and gradients[-1].shape == grad.shape and torch.equal(gradients[-1], grad)):
+            gradients.append(grad)

# %% not_with_create_graph
# misconception: leaves out passes that are recorded themselves | hint: create_graph_left_out
# breaks: Each backward pass counts
# edits: equal_gradients_once
-        if not (gradients and gradients[-1].shape == grad.shape and torch.equal(gradients[-1], grad)):
+        if not torch.is_grad_enabled():

# %% cleans_what_goes_on
# misconception: stores the gradient, and takes nan and inf out of what goes on | hint: watcher_changes_gradient
# breaks: What the model puts out does not change, no gradient does
# edits: equal_gradients_once
-        if not (gradients and gradients[-1].shape == grad.shape and torch.equal(gradients[-1], grad)):
-            gradients.append(grad)
+        gradients.append(grad)
+        return grad.nan_to_num()

# %% hands_a_detached_copy_on
# misconception: hands on a detached copy that requires a gradient | hint: cut_from_its_inputs
# edits: hands_a_copy_on
-        copy = output.clone()
-        if copy.requires_grad:
+        copy = output.detach().clone()
+        if output.requires_grad:
+            copy.requires_grad_()
