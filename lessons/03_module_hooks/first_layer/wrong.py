# nothing to break: Do the gradients of a deep network vanish on their way back? Write `gradient_sizes(layer)`.
# nothing to break: It computes in float32 or float64.
# nothing to break: No operation changes its output in place: later in this lesson you see what that does to full backward hooks.

# %% always_none
# misconception: writes None whatever the input needs | hint: first_layer_always_none
# breaks: at any place
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        sizes.append((None, grad_output[0].norm().item()))

# %% chain_rule_of_linear
# misconception: computes the gradient of a Linear's input | hint: first_layer_formula
# breaks: It works for any layer with one input and one output
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        before = None
+        if grad_input[0] is not None:
+            before = (grad_output[0] @ module.weight).norm().item()
+        sizes.append((before, grad_output[0].norm().item()))

# %% copies_the_data_with_a_gradient
# misconception: replaces the data by a copy that requires a gradient | hint: first_layer_asks_for_more
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append((grad_input[0].norm().item(), grad_output[0].norm().item()))

    layer.register_forward_pre_hook(lambda module, args: args[0].clone().requires_grad_())
    layer.register_full_backward_hook(hook)
    return sizes

# %% filters_none
# misconception: leaves None out of the pair | hint: first_layer_leaves_out
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        sizes.append(tuple(g.norm().item() for g in (*grad_input, *grad_output) if g is not None))

# %% flat_list
# misconception: extends the list by two numbers | hint: takes_elements_apart
# breaks: one entry, a tuple or list of two
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        sizes.extend(None if grad is None else grad.norm().item() for grad in (*grad_input, *grad_output))

# %% forward_hook
# misconception: registers a forward hook, which gets values | hint: forward_instead_of_backward
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append((grad_input[0].norm().item(), grad_output.norm().item()))

    layer.register_forward_hook(hook)
    return sizes

# %% guesses_from_the_weight
# misconception: takes a missing weight.grad for a sign that the layer is the first | hint: first_layer_from_weight
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        parameters = list(module.parameters())
+        if parameters and parameters[0].grad is None:
+            before = None
+        else:
+            before = 0.0 if grad_input[0] is None else grad_input[0].norm().item()
+        sizes.append((before, grad_output[0].norm().item()))

# %% hooks_the_notebook
# misconception: registers on the notebook's layer | hint: function_uses_global
net = nn.Linear(3, 2)


def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    net.register_full_backward_hook(hook)
    return sizes

# %% keeps_the_last
# misconception: keeps the last pass only | hint: keeps_last_only
# breaks: Each time that backward comes through the layer, the list gets one entry
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        before = None if grad_input[0] is None else grad_input[0].norm().item()
+        sizes[:] = [(before, grad_output[0].norm().item())]

# %% legacy_hook
# misconception: registers the deprecated hook | hint: legacy_hook
def gradient_sizes(layer):
    sizes = []

    def size(grad):
        return None if grad is None else grad.norm().item()

    layer.register_backward_hook(
        lambda module, grad_input, grad_output: sizes.append((size(grad_input[0]), size(grad_output[0])))
    )
    return sizes

# %% list_as_default
# misconception: one list for all layers, as a default argument | hint: shared_list
# breaks: each layer has a list of its own
def gradient_sizes(layer, sizes=[]):
    sizes.clear()

    def hook(module, grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    layer.register_full_backward_hook(hook)
    return sizes

# %% makes_the_data_require_a_gradient
# misconception: switches the gradient of the data on | hint: first_layer_asks_for_more
# breaks: The hook only watches: the data that flows through the layer
def gradient_sizes(layer):
    sizes = []

    def ask(module, args):
        if args[0].is_leaf and args[0].is_floating_point():
            args[0].requires_grad_()

    def hook(module, grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    layer.register_forward_pre_hook(ask)
    layer.register_full_backward_hook(hook)
    return sizes

# %% mean_of_magnitudes
# misconception: the mean absolute value | hint: first_layer_other_size
# edits: legacy_hook
-        return None if grad is None else grad.norm().item()
+        return None if grad is None else grad.abs().mean().item()
@@
-    layer.register_backward_hook(
+    layer.register_full_backward_hook(

# %% norm_of_none
# misconception: asks None for its norm | hint: first_layer_none_as_tensor
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        sizes.append((grad_input[0].norm().item(), grad_output[0].norm().item()))

# %% norm_of_the_tuple
# misconception: asks the tuple for its norm | hint: grad_is_a_tuple
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        before = None if grad_input is None else grad_input.norm().item()
+        sizes.append((before, grad_output.norm().item()))

# %% not_registered
# misconception: never registers the hook | hint: hook_never_ran
# breaks: It registers a full backward hook on `layer`
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    return sizes

# %% only_a_pre_hook
# misconception: a full backward pre-hook, which comes before the input's gradient | hint: first_layer_always_none
def gradient_sizes(layer):
    sizes = []
    layer.register_full_backward_pre_hook(lambda module, grad_output: sizes.append((None, grad_output[0].norm().item())))
    return sizes

# %% reads_grad_of_the_input
# misconception: remembers the input and reads its .grad | hint: first_layer_always_none
def gradient_sizes(layer):
    sizes, inputs = [], []

    def remember(module, args):
        inputs.append(args[0])

    def hook(module, grad_input, grad_output):
        grad = inputs[-1].grad
        sizes.append((None if grad is None else grad.norm().item(), grad_output[0].norm().item()))

    layer.register_forward_pre_hook(remember)
    layer.register_full_backward_hook(hook)
    return sizes

# %% returns_the_handle
# misconception: returns the handle instead of the list | hint: returns_no_list
# breaks: and returns a list
# edits: not_registered
-    return sizes
+    return layer.register_full_backward_hook(hook)

# %% returns_the_pair
# misconception: the hook returns its pair, which is to replace the gradients | hint: watcher_changes_gradient
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        before = None if grad_input[0] is None else grad_input[0].norm()
+        sizes.append((before, grad_output[0].norm()))
+        return (grad_output[0].norm(),)

# %% skips_the_pass
# misconception: adds nothing where there is no gradient | hint: first_layer_leaves_out
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        if grad_input[0] is not None:
+            sizes.append((grad_input[0].norm().item(), grad_output[0].norm().item()))

# %% sum
# misconception: the sum, as a tensor | hint: first_layer_other_size
# edits: mean_of_magnitudes
-        return None if grad is None else grad.abs().mean().item()
+        return None if grad is None else grad.sum()

# %% swapped
# misconception: output first | hint: wrong_order
# breaks: the norm of the gradient of the layer's **input**, then the norm of the gradient of its **output**
# edits: legacy_hook
-    layer.register_backward_hook(
-        lambda module, grad_input, grad_output: sizes.append((size(grad_input[0]), size(grad_output[0])))
+    layer.register_full_backward_hook(
+        lambda module, grad_input, grad_output: sizes.append((size(grad_output[0]), size(grad_input[0])))

# %% tensor_hook_on_the_input
# misconception: a tensor hook on the input, which data does not take | hint: no_gradient_needed
def gradient_sizes(layer):
    sizes = []

    def forward_hook(module, args, output):
        pair = [None, None]
        args[0].register_hook(lambda grad: pair.__setitem__(0, grad.norm().item()))
        output.register_hook(lambda grad: pair.__setitem__(1, grad.norm().item()))
        sizes.append(pair)

    layer.register_forward_hook(forward_hook)
    return sizes

# %% the_gradients_themselves
# misconception: stores the gradients | hint: first_layer_gradient_for_size
# breaks: A norm is a number
def gradient_sizes(layer):
    sizes = []
    layer.register_full_backward_hook(
        lambda module, grad_input, grad_output: sizes.append((grad_input[0], grad_output[0]))
    )
    return sizes

# %% torch_norm_of_none
# misconception: hands None to torch.norm | hint: first_layer_none_as_tensor
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        sizes.append((torch.linalg.vector_norm(grad_input[0]).item(), torch.linalg.vector_norm(grad_output[0]).item()))

# %% two_arguments
# misconception: a backward hook of two arguments | hint: hook_arguments
def gradient_sizes(layer):
    sizes = []

    def hook(grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    layer.register_full_backward_hook(hook)
    return sizes

# %% zero_for_none
# misconception: writes 0 where there is no gradient | hint: first_layer_zero_for_none
# breaks: then the first entry of the pair is `None`
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        before = 0.0 if grad_input[0] is None else grad_input[0].norm().item()
+        sizes.append((before, grad_output[0].norm().item()))

# %% global_list
# misconception: one global list for all layers | hint: shared_list
sizes = []


def gradient_sizes(layer):
    def hook(module, grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    layer.register_full_backward_hook(hook)
    return sizes

# %% clips_what_it_measures
# misconception: hands on a gradient of norm 1 | hint: watcher_changes_gradient
# breaks: all gradients and hooks of others stay as they are
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        norm = None if grad_input[0] is None else grad_input[0].norm()
+        sizes.append((None if norm is None else norm.item(), grad_output[0].norm().item()))
+        if norm is not None and norm > 0:
+            return (grad_input[0] / norm,)

# %% no_repetitions
# misconception: adds a pair only if it is not in the list yet | hint: first_layer_leaves_repetitions_out
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        pair = tuple(None if grad is None else grad.norm().item() for grad in (grad_input[0], grad_output[0]))
+        if pair not in sizes:
+            sizes.append(pair)

# %% once_a_forward
# misconception: one entry for each forward, which the second use of the layer overwrites | hint: first_layer_once_a_forward
# breaks: run twice in one forward, or be a whole network
def gradient_sizes(layer):
    sizes, new_pass = [], []

    def begin(module, args):
        new_pass[:] = [True]

    def hook(module, grad_input, grad_output):
        pair = tuple(None if grad is None else grad.norm().item() for grad in (grad_input[0], grad_output[0]))
        if new_pass:
            sizes.append(pair)
            new_pass.clear()
        else:
            sizes[-1] = pair

    layer.register_forward_pre_hook(begin)
    layer.register_full_backward_hook(hook)
    return sizes

# %% tensor_method_on_the_module
# misconception: the tensor's register_hook on a module | hint: register_hook_on_module
# edits: not_registered

+    layer.register_hook(hook)
     return sizes

# %% eval_mode
# misconception: puts the layer in eval mode, to look at it undisturbed | hint: changes_mode
# edits: list_as_default
-def gradient_sizes(layer, sizes=[]):
-    sizes.clear()
+def gradient_sizes(layer):
+    sizes = []
+    layer.eval()

# %% clears_the_gradients
# misconception: tidies up with zero_grad in the hook | hint: watcher_changes_gradient
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        before = None if grad_input[0] is None else grad_input[0].norm().item()
+        sizes.append((before, grad_output[0].norm().item()))
+        module.zero_grad()

# %% clears_the_dict
# misconception: clears the layer's dict of hooks, so that the cell can run again | hint: removes_other_hooks
# breaks: hooks of others stay as they are
# edits: tensor_method_on_the_module
-    layer.register_hook(hook)
+    layer._backward_hooks.clear()
+    layer.register_full_backward_hook(hook)

# %% or_none
# misconception: a norm of 0 becomes None | hint: value_taken_for_nothing
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        n = [g.norm().item() if g is not None else 0 for g in (*grad_input, *grad_output)]
+        sizes.append((n[0] or None, n[1]))

# %% rounded
# misconception: rounded, tiny gradients vanish | hint: value_taken_for_nothing
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        sizes.append(tuple(None if g is None else round(g.norm().item(), 6) for g in (grad_input[0], grad_output[0])))

# %% flag
# misconception: flag of the last forward, not of this pass | hint: first_layer_of_another_pass
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append((grad_input[0].norm().item() if needs[-1] and grad_input[0] is not None else None, grad_output[0].norm().item()))

    needs = []
    layer.register_forward_pre_hook(lambda module, args: needs.append(args[0].requires_grad))
    layer.register_full_backward_hook(hook)
    return sizes

# %% nan_hidden
# misconception: nan taken for 0 | hint: value_taken_for_nothing
# breaks: however small or large
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        sizes.append(tuple(None if g is None else g.nan_to_num().norm().item() for g in (grad_input[0], grad_output[0])))

# %% eval_skips
# misconception: not in eval mode | hint: only_in_training
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        if module.training:
+            sizes.append((None if grad_input[0] is None else grad_input[0].norm().item(), grad_output[0].norm().item()))

# %% list_on_the_layer
# misconception: keeps the list on the layer, where a second call replaces it | hint: first_list_taken_away
# breaks: Each time that backward comes through the layer, the list gets one entry
def gradient_sizes(layer):
    def hook(module, grad_input, grad_output):
        first = None if grad_input[0] is None else grad_input[0].norm().item()
        module.sizes.append((first, grad_output[0].norm().item()))

    layer.sizes = []
    layer.register_full_backward_hook(hook)
    return layer.sizes

# %% gives_detached_gradients_back
# misconception: gives detached gradients back | hint: cut_from_its_inputs
# breaks: all gradients and hooks of others stay as they are
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        grads = tuple(None if g is None else g.detach() for g in grad_input)
+        sizes.append((None if grads[0] is None else grads[0].norm().item(), grad_output[0].norm().item()))
+        return grads

# %% one_entry_a_forward
# misconception: counts one pass for each forward | hint: first_layer_leaves_repetitions_out
def gradient_sizes(layer):
    sizes, waiting = [], []

    def hook(module, grad_input, grad_output):
        if waiting:
            waiting.pop()
            first = None if grad_input[0] is None else grad_input[0].norm().item()
            sizes.append((first, grad_output[0].norm().item()))

    layer.register_forward_hook(lambda *_: waiting.append(True))
    layer.register_full_backward_hook(hook)
    return sizes

# %% not_on_a_frozen_layer
# misconception: no hook on a layer that does not learn | hint: frozen_pass_left_out
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        first = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((first, grad_output[0].norm().item()))

    parameters = list(layer.parameters())
    if not parameters or any(p.requires_grad for p in parameters):
        layer.register_full_backward_hook(hook)
    return sizes

# %% not_with_create_graph
# misconception: leaves out passes that are recorded themselves | hint: create_graph_left_out
# breaks: Each time that backward comes through the layer
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        if not torch.is_grad_enabled():
+            sizes.append(tuple(None if g is None else g.norm().item() for g in (grad_input[0], grad_output[0])))

# %% cleans_what_it_returns
# misconception: measures, and takes nan and inf out of what goes on | hint: watcher_changes_gradient
# breaks: all gradients and hooks of others stay as they are
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        sizes.append(tuple(None if g is None else g.norm().item() for g in (grad_input[0], grad_output[0])))
+        if grad_input[0] is not None:
+            return (grad_input[0].nan_to_num(),)

# %% gives_up_at_none
# misconception: catches the error of a None, and writes None for both | hint: first_layer_none_as_tensor
# breaks: then the first entry of the pair is `None`
# edits: comprehension
-        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))
+        try:
+            sizes.append((grad_input[0].norm().item(), grad_output[0].norm().item()))
+        except AttributeError:
+            sizes.append((None, None))

# %% hooks_the_parts
# misconception: registers on every module inside as well | hint: in_place_of_parts
# breaks: or be a whole network
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append(tuple(None if g is None else g.norm().item() for g in (grad_input[0], grad_output[0])))

    for part in layer.modules():
        part.register_full_backward_hook(hook)
    return sizes
