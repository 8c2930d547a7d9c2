# %% convolutions_only
# misconception: forgets the linear layers | hint: feat_one_kind
def count_macs(model: nn.Module, x: torch.Tensor) -> int:
    """The MACs of all calls of nn.Linear and nn.Conv2d while `model` runs on `x`."""
    # TODO: multiply the output's elements by the products for each, and add up over all calls.
    counts = []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, nn.Conv2d):
                stack.enter_context(module.register_forward_hook(count))
        model(x)
    return sum(counts)

# %% counter_goes_on
# misconception: a counter in the notebook that nobody sets back | hint: feat_goes_on
# breaks: Each call starts from 0
# edits: numpy_products
-import numpy as np
+total = 0
@@
-    counts, handles = [], []
+    global total
+    handles = []
@@
-        counts.append(np.prod(output.shape) * np.prod(module.weight.shape[1:]))
+        global total
+        total += output.numel() * module.weight[0].numel()
@@
-    return np.sum(counts)
+    return total

# %% dict_by_name
# misconception: one entry a layer | hint: feat_once_each
# breaks: for **each call**
def count_macs(model, x):
    counts, handles = {}, []

    def count(name, module, args, output):
        counts[name] = output.numel() * module.weight[0].numel()

    try:
        for name, module in model.named_modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                handles.append(module.register_forward_hook(partial(count, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return sum(counts.values())

# %% direct_children_only
# misconception: hooks on the direct children only | hint: feat_top_level
# breaks: wherever they are in the model
# edits: convolutions_only
-        for module in model.modules():
-            if isinstance(module, nn.Conv2d):
+        for module in model.children():
+            if isinstance(module, (nn.Linear, nn.Conv2d)):

# %% every_layer_with_a_weight
# misconception: counts BatchNorm as well | hint: feat_other_layers
# breaks: other layers count as 0
# edits: convolutions_only
-            if isinstance(module, nn.Conv2d):
+            if hasattr(module, "weight"):

# %% weights_of_two_dimensions
# misconception: counts an Embedding, which has a weight of two dimensions | hint: feat_other_layers
# breaks: other layers count as 0
# edits: convolutions_only
-            if isinstance(module, nn.Conv2d):
+            if hasattr(module, "weight") and module.weight.dim() > 1:

# %% exact_class
# misconception: leaves out layers of a class made from nn.Linear | hint: feat_subclass
# breaks: All `nn.Linear` and `nn.Conv2d` layers count
# edits: weights_of_two_dimensions
-            if hasattr(module, "weight") and module.weight.dim() > 1:
+            if type(module) in (nn.Linear, nn.Conv2d):

# %% flops
# misconception: counts multiplications and additions | hint: feat_flops
# edits: direct_children_only
-        counts.append(output.numel() * module.weight[0].numel())
+        counts.append(2 * output.numel() * module.weight[0].numel())
@@
-        for module in model.children():
+        for module in model.modules():

# %% hooks_stay
# misconception: leaves the hooks there | hint: feat_hook_left
# breaks: no hook stays
def count_macs(model, x):
    counts = []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            module.register_forward_hook(count)
    model(x)
    return sum(counts)

# %% list_of_counts
# misconception: returns the counts unsummed | hint: feat_not_summed
# breaks: returns how many MACs this call took, as a whole number
# edits: direct_children_only
-        for module in model.children():
+        for module in model.modules():
@@
-    return sum(counts)
+    return counts

# %% numbers_of_the_output
# misconception: counts the numbers of the outputs | hint: feat_outputs_only_counted
# edits: flops
-        counts.append(2 * output.numel() * module.weight[0].numel())
+        counts.append(output.numel())

# %% one_output_channel
# misconception: forgets the output's channels | hint: feat_one_output_channel
# edits: flops
-        counts.append(2 * output.numel() * module.weight[0].numel())
+        if isinstance(module, nn.Conv2d):
+            batch, _, height, width = output.shape
+            counts.append(batch * height * width * module.weight[0].numel())
+        else:
+            counts.append(output.shape[0] * module.in_features)

# %% one_sample
# misconception: counts the work for one sample | hint: feat_batch_forgotten
# breaks: for the **whole batch**
# edits: flops
-        counts.append(2 * output.numel() * module.weight[0].numel())
+        counts.append(output[0].numel() * module.weight[0].numel())

# %% one_vector_a_sample
# misconception: takes inputs of Linear for flat | hint: feat_tokens
# breaks: inputs of `nn.Linear` may have more than two dimensions
# edits: one_sample
-        counts.append(output[0].numel() * module.weight[0].numel())
+        if isinstance(module, nn.Conv2d):
+            counts.append(output.numel() * module.weight[0].numel())
+        else:
+            counts.append(args[0].shape[0] * module.in_features * module.out_features)

# %% parameters_of_the_model
# misconception: counts the model's parameters | hint: feat_parameters
def count_macs(model, x):
    return sum(parameter.numel() for parameter in model.parameters())

# %% square_window
# misconception: takes every window for a square | hint: feat_square
# edits: one_vector_a_sample
-            counts.append(output.numel() * module.weight[0].numel())
+            counts.append(output.numel() * module.in_channels // module.groups * module.kernel_size[0] ** 2)
@@
-            counts.append(args[0].shape[0] * module.in_features * module.out_features)
+            counts.append(output.numel() * module.in_features)

# %% groups_forgotten
# misconception: forgets the groups | hint: feat_groups | canary
# edits: square_window
-            counts.append(output.numel() * module.in_channels // module.groups * module.kernel_size[0] ** 2)
+            height, width = module.kernel_size
+            counts.append(output.numel() * module.in_channels * height * width)

# %% with_bias
# misconception: adds the bias | hint: feat_bias
# breaks: so does the bias
# edits: one_sample
-        counts.append(output[0].numel() * module.weight[0].numel())
+        each = module.weight[0].numel() + (module.bias is not None)
+        counts.append(output.numel() * each)

# %% parts_of_the_model_only
# misconception: leaves out the model itself | hint: feat_root_forgotten
def count_macs(model, x):
    counts = []
    with ExitStack() as stack:
        for name, module in model.named_modules():
            if name and isinstance(module, (nn.Linear, nn.Conv2d)):
                hook = lambda module, args, output: counts.append(output.numel() * module.weight[0].numel())
                stack.enter_context(module.register_forward_hook(hook))
        model(x)
    return sum(counts)

# %% runs_it_twice
# misconception: runs the model to find the layers that are used, and once more to count | hint: feat_runs_twice
# breaks: it runs `model` on `x` once
def count_macs(model, x):
    used, counts = [], []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                stack.enter_context(module.register_forward_hook(lambda module, args, output: used.append(module)))
        model(x)
    with ExitStack() as stack:
        for module in set(used):
            stack.enter_context(module.register_forward_hook(count))
        model(x)
    return sum(counts)

# %% hook_returns_the_count
# misconception: the hook returns its count, which takes the place of the output | hint: hook_replaces_output
def count_macs(model, x):
    counts = []

    def count(module, args, output):
        macs = output.numel() * module.weight[0].numel()
        counts.append(macs)
        return macs

    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                stack.enter_context(module.register_forward_hook(count))
        model(x)
    return sum(counts)

# %% whole_weight
# misconception: takes the whole weight for each number of the output | hint: feat_whole_weight
# edits: one_sample
-        counts.append(output[0].numel() * module.weight[0].numel())
+        counts.append(output.numel() * module.weight.numel())

# %% positions_forgotten
# misconception: uses each weight once for a sample | hint: feat_positions
# edits: one_sample
-        counts.append(output[0].numel() * module.weight[0].numel())
+        counts.append(len(output) * module.weight.numel())

# %% torch_counts
# misconception: lets torch count, below the modules | hint: feat_products
# breaks: other layers count as 0
def count_macs(model, x):
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        model(x)
    return counter.get_total_flops() // 2

# %% numbers_of_the_input
# misconception: multiplies the numbers of the input by those of one row of the output | hint: feat_input_size
def count_macs(model, x):
    counts = []

    def count(module, args, output):
        counts.append(args[0].numel() * module.weight.shape[0])

    run_with(model, {name: count for name, m in model.named_modules() if isinstance(m, (nn.Linear, nn.Conv2d))}, x)
    return sum(counts)
