# nothing to break: In the tests there are no classes derived from these two
# nothing to break: with forward hooks
# nothing to break: Inputs of `nn.Conv2d` have a batch

# %% convolutions_only
# misconception: forgets the linear layers | hint: feat_one_kind
# edits: reference
-def count_macs(model: nn.Module, x: torch.Tensor) -> int:
-    """The MACs of all calls of nn.Linear and nn.Conv2d while `model` runs on `x`."""
-    # TODO: numbers in the output, times products for each of them, summed over the calls.
+def count_macs(model, x):
@@
-            if isinstance(module, (nn.Linear, nn.Conv2d)):
+            if isinstance(module, nn.Conv2d):

# %% counter_goes_on
# misconception: a counter in the notebook that nobody sets back | hint: feat_goes_on
# breaks: Each call of `count_macs` counts afresh
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

# %% counts_on_the_module
# misconception: counts on the modules, which keep it | hint: feat_goes_on
def count_macs(model, x):
    handles = []

    def count(module, args, output):
        module.macs = getattr(module, "macs", 0) + output.numel() * module.weight[0].numel()

    layers = [m for m in model.modules() if isinstance(m, (nn.Linear, nn.Conv2d))]
    try:
        for module in layers:
            handles.append(module.register_forward_hook(count))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return sum(getattr(module, "macs", 0) for module in layers)


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

# %% dict_by_name
# misconception: one entry a layer | hint: feat_once_each
# breaks: for each call of a layer that is used several times
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


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

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
# breaks: but in no other layers
# edits: convolutions_only
-            if isinstance(module, nn.Conv2d):
+            if hasattr(module, "weight"):

# %% every_module
# misconception: looks for a weight in every module | hint: feat_every_module
# edits: convolutions_only
-            if isinstance(module, nn.Conv2d):
-                handles.append(module.register_forward_hook(count))
+            handles.append(module.register_forward_hook(count))

# %% flops
# misconception: counts multiplications and additions | hint: feat_flops
# edits: convolutions_only
-        counts.append(output.numel() * module.weight[0].numel())
+        counts.append(2 * output.numel() * module.weight[0].numel())
@@
-            if isinstance(module, nn.Conv2d):
+            if isinstance(module, (nn.Linear, nn.Conv2d)):

# %% groups_forgotten
# misconception: forgets the groups | hint: feat_groups
# edits: flops
-        counts.append(2 * output.numel() * module.weight[0].numel())
+        if isinstance(module, nn.Conv2d):
+            height, width = module.kernel_size
+            counts.append(output.numel() * module.in_channels * height * width)
+        else:
+            counts.append(output.numel() * module.in_features)

# %% hooks_stay
# misconception: leaves the hooks there | hint: feat_hook_left
# breaks: leaves no hook behind
def count_macs(model, x):
    counts = []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            module.register_forward_hook(count)
    model(x)
    return sum(counts)


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

# %% list_of_counts
# misconception: returns the counts unsummed | hint: feat_not_summed
# breaks: Write `count_macs(model, x)`.
# breaks: returns how many MACs this one call took, as a whole number
# edits: convolutions_only
-            if isinstance(module, nn.Conv2d):
+            if isinstance(module, (nn.Linear, nn.Conv2d)):
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
# edits: flops
-        counts.append(2 * output.numel() * module.weight[0].numel())
+        if isinstance(module, nn.Conv2d):
+            counts.append(output.numel() * module.weight[0].numel())
+        else:
+            counts.append(args[0].shape[0] * module.in_features * module.out_features)

# %% own_output_formula
# misconception: computes the output's size, without dilation | hint: feat_input_size
# edits: flops
-        counts.append(2 * output.numel() * module.weight[0].numel())
+        if isinstance(module, nn.Linear):
+            counts.append(output.numel() * module.in_features)
+            return
+        batch, _, *size = args[0].shape
+        height, width = (
+            (n + 2 * padding - kernel) // stride + 1
+            for n, padding, kernel, stride in zip(size, module.padding, module.kernel_size, module.stride)
+        )
+        counts.append(batch * height * width * module.weight.numel())

# %% parameters_of_the_model
# misconception: counts the model's parameters | hint: feat_parameters
def count_macs(model, x):
    return sum(parameter.numel() for parameter in model.parameters())


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

# %% prints_the_sum
# misconception: prints the sum and returns nothing | hint: returns_nothing
# edits: list_of_counts
-    return counts
+    print(sum(counts))

# %% size_of_the_input
# misconception: takes the places of the input | hint: feat_input_size
# edits: groups_forgotten
-            height, width = module.kernel_size
-            counts.append(output.numel() * module.in_channels * height * width)
+            batch, _, height, width = args[0].shape
+            counts.append(batch * height * width * module.weight.numel())

# %% square_window
# misconception: takes every window for a square | hint: feat_square
# edits: groups_forgotten
-            height, width = module.kernel_size
-            counts.append(output.numel() * module.in_channels * height * width)
+            counts.append(output.numel() * module.in_channels // module.groups * module.kernel_size[0] ** 2)

# %% walks_over_the_layers
# misconception: computes sizes by hand, layer after layer | hint: feat_unused
# breaks: for none of a layer that is not used
def count_macs(model, x):
    sizes, handles = {}, []

    def note(module, args, output):
        sizes[module] = sizes.get(module, 0) + output.numel()

    try:
        for module in model.modules():
            handles.append(module.register_forward_hook(note))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    total = 0
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            total += sizes.get(module, x.shape[0] * module.weight.shape[0]) * module.weight[0].numel()
    return total


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

# %% weights_only
# misconception: counts weights, not work | hint: feat_parameters
# edits: flops
-        counts.append(2 * output.numel() * module.weight[0].numel())
+        counts.append(module.weight.numel())

# %% with_bias
# misconception: adds the bias | hint: feat_bias
# breaks: without the bias
# edits: flops
-        counts.append(2 * output.numel() * module.weight[0].numel())
+        each = module.weight[0].numel() + (module.bias is not None)
+        counts.append(output.numel() * each)

# %% parts_of_the_model_only
# misconception: leaves out the model itself | hint: feat_root_forgotten
# breaks: also if the model is itself such a layer
def count_macs(model, x):
    counts = []
    with ExitStack() as stack:
        for name, module in model.named_modules():
            if name and isinstance(module, (nn.Linear, nn.Conv2d)):
                hook = lambda module, args, output: counts.append(output.numel() * module.weight[0].numel())
                stack.enter_context(module.register_forward_hook(hook))
        model(x)
    return sum(counts)

# %% each_weight_once
# misconception: counts layers that share a weight once | hint: feat_tied_once
def count_macs(model, x):
    counts, seen = [], set()
    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)) and module.weight not in seen:
                seen.add(module.weight)
                hook = lambda module, args, output: counts.append(output.numel() * module.weight[0].numel())
                stack.enter_context(module.register_forward_hook(hook))
        model(x)
    return sum(counts)

# %% a_hook_for_each_name
# misconception: a hook for each name of a layer | hint: feat_under_each_name
# edits: parts_of_the_model_only
-        for name, module in model.named_modules():
-            if name and isinstance(module, (nn.Linear, nn.Conv2d)):
+        for name, module in model.named_modules(remove_duplicate=False):
+            if isinstance(module, (nn.Linear, nn.Conv2d)):

# %% padding_left_out
# misconception: does not count products with the zeros of the padding | hint: feat_padding
# breaks: Windows that reach into the padding count in full.
def count_macs(model, x):
    counts = []

    def count(module, args, output):
        if isinstance(module, nn.Linear):
            counts.append(output.numel() * module.in_features)
        else:
            one = torch.ones_like(args[0][:1, :1])
            window = torch.ones(1, 1, *module.kernel_size, dtype=one.dtype)
            hits = F.conv2d(one, window, None, module.stride, module.padding, module.dilation)
            counts.append(int(hits.sum()) * output.shape[0] * output.shape[1] * module.weight.shape[1])

    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                stack.enter_context(module.register_forward_hook(count))
        model(x)
    return sum(counts)

# %% removes_unless_an_error_comes
# misconception: removes the hooks in a line that an error skips | hint: feat_error_skips
# breaks: also if the model raises an error
def count_macs(model, x):
    counts, handles = [], []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            handles.append(module.register_forward_hook(count))
    model(x)
    for handle in handles:
        handle.remove()
    return sum(counts)


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

# %% eval_and_train
# misconception: sets the modes of all modules to the model's own | hint: feat_one_mode_for_all
# breaks: Each module stays in its mode.
def count_macs(model, x):
    counts, training = [], model.training

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    model.eval()
    try:
        with ExitStack() as stack:
            for module in model.modules():
                if isinstance(module, (nn.Linear, nn.Conv2d)):
                    stack.enter_context(module.register_forward_hook(count))
            model(x)
    finally:
        model.train(training)
    return sum(counts)


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

# %% runs_it_twice
# misconception: runs the model to find the layers that are used, and once more to count | hint: feat_runs_twice
# breaks: It runs `model` on `x` once
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

# %% an_interrupt_skips_the_end
# misconception: removes the hooks after an Exception, and an interrupt is none | hint: feat_error_skips
# breaks: or somebody interrupts it
def count_macs(model, x):
    counts, handles = [], []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            handles.append(module.register_forward_hook(count))
    try:
        model(x)
    except Exception:
        for handle in handles:
            handle.remove()
        raise
    for handle in handles:
        handle.remove()
    return sum(counts)

# %% adds_up_in_float32
# misconception: adds up in a tensor of float32 | hint: feat_rounded
# breaks: returns how many MACs this one call took, as a whole number
def count_macs(model: nn.Module, x: torch.Tensor) -> int:
    total = torch.zeros(1)

    def hook(module, args, output):
        total.add_(output.numel() * module.weight[0].numel())

    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                stack.enter_context(module.register_forward_hook(hook))
        model(x)
    return int(total.item())

# %% counts_left_after_an_error
# misconception: sets its counts on the layers back at the end, not after an error | hint: feat_goes_on
# breaks: Each call of `count_macs` counts afresh
def count_macs(model: nn.Module, x: torch.Tensor) -> int:
    def hook(module, args, output):
        module.macs = getattr(module, "macs", 0) + output.numel() * module.weight[0].numel()

    layers = [module for module in model.modules() if isinstance(module, (nn.Linear, nn.Conv2d))]
    with ExitStack() as stack:
        for module in layers:
            stack.enter_context(module.register_forward_hook(hook))
        model(x)
    total = sum(getattr(module, "macs", 0) for module in layers)
    for module in layers:
        module.macs = 0
    return total

# %% whatever_has_a_matrix
# misconception: counts every layer whose weight has two or four dimensions | hint: feat_other_layers
# breaks: but in no other layers
def count_macs(model: nn.Module, x: torch.Tensor) -> int:
    total = 0

    def hook(module, args, output):
        nonlocal total
        total += output.numel() * module.weight[0].numel()

    with ExitStack() as stack:
        for module in model.modules():
            weight = getattr(module, "weight", None)
            if isinstance(weight, torch.Tensor) and weight.dim() in (2, 4):
                stack.enter_context(module.register_forward_hook(hook))
        model(x)
    return total

# %% remembers_by_shape
# misconception: remembers the count by model and shape | hint: stale_result
# breaks: Each call of `count_macs` counts afresh
_counts = {}


def count_macs(model: nn.Module, x: torch.Tensor) -> int:
    key = model, tuple(x.shape)
    if key not in _counts:
        total = 0

        def hook(module, args, output):
            nonlocal total
            total += output.numel() * module.weight[0].numel()

        with ExitStack() as stack:
            for module in model.modules():
                if isinstance(module, (nn.Linear, nn.Conv2d)):
                    stack.enter_context(module.register_forward_hook(hook))
            model(x)
        _counts[key] = total
    return _counts[key]

# %% in_millions
# misconception: returns millions | hint: feat_millions
# breaks: returns how many MACs this one call took
def count_macs(model, x):
    counts = []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                stack.enter_context(module.register_forward_hook(count))
        model(x)
    return round(sum(counts) / 1e6, 2)

# %% square_outputs
# misconception: takes the width of the output squared | hint: feat_square_output
# breaks: returns how many MACs this one call took
# edits: in_millions
-        counts.append(output.numel() * module.weight[0].numel())
+        counts.append((output.numel() if output.dim() != 4 else output.shape[0] * output.shape[1] * output.shape[3] ** 2) * module.weight[0].numel())
@@
-    return round(sum(counts) / 1e6, 2)
+    return sum(counts)

# %% to_the_device_of_the_first_parameter
# misconception: asks the model's first parameter for its device | hint: feat_first_parameter
# breaks: It runs `model` on `x` once
# edits: in_millions
-        model(x)
-    return round(sum(counts) / 1e6, 2)
+        model(x.to(next(model.parameters()).device))
+    return sum(counts)

# %% hook_returns_the_count
# misconception: the hook returns its count, which takes the place of the output | hint: hook_replaces_output
# edits: square_outputs
-        counts.append((output.numel() if output.dim() != 4 else output.shape[0] * output.shape[1] * output.shape[3] ** 2) * module.weight[0].numel())
+        macs = output.numel() * module.weight[0].numel()
+        counts.append(macs)
+        return macs
