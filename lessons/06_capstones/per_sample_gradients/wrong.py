# nothing to break: Write the context manager
# nothing to break: The block contains one forward and one backward
# nothing to break: You may assume that Linear layers get inputs `(N, d)`, and are not frozen
# nothing to break: `gradients` is a dict

# %% bias_for_every_layer
# misconception: an entry for the bias of a layer that has none | hint: per_sample_bias_too_many
class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        def forward_hook(name, layer, args, output):
            output.register_hook(partial(tensor_hook, name, layer, args[0].detach()))

        def tensor_hook(name, layer, x, grad):
            if self.reduction == "mean":
                grad = grad * len(grad)
            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
            add(f"{name}.bias", grad)

        def add(name, gradient):
            self.gradients[name] = self.gradients.get(name, 0) + gradient

        self.handles = []
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                self.handles.append(layer.register_forward_hook(partial(forward_hook, name)))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% bias_forgotten
# misconception: the weights only | hint: per_sample_bias_missing | canary
# breaks: all weights and biases
# edits: bias_for_every_layer
-            add(f"{name}.bias", grad)

# %% bias_summed
# misconception: the bias' gradient is summed over the batch | hint: per_sample_bias_summed
# edits: bias_for_every_layer
-            add(f"{name}.bias", grad)
+            if layer.bias is not None:
+                add(f"{name}.bias", grad.sum(0))

# %% crashes_without_bias
# misconception: reads the shape of a bias that may be None | hint: per_sample_no_bias
# edits: bias_for_every_layer
-            add(f"{name}.bias", grad)
+            add(f"{name}.bias", grad.expand(len(grad), *layer.bias.shape))

# %% last_in_first_out
# misconception: the last call waits for the first gradient, also if its output never reaches the loss | hint: per_sample_wrong_pairs
# edits: reference
-            output.register_hook(partial(collect, layer, args[0].detach()))  # each call's hook knows its input
+            inputs.setdefault(layer, []).append(args[0].detach())
+            output.register_hook(partial(collect, layer))
@@
-        def collect(layer, x, grad):
+        inputs = {}
+
+        def collect(layer, grad):
+            x = inputs[layer].pop()

# %% first_in_first_out
# misconception: pairs the calls of a reused layer in forward order | hint: per_sample_wrong_pairs
# edits: last_in_first_out
-            x = inputs[layer].pop()
+            x = inputs[layer].pop(0)

# %% hook_returns_scaled
# misconception: the tensor hook hands the scaled gradient on | hint: per_sample_changes_grad
# breaks: `.grad` is the same as without the tool
# edits: bias_summed
-                add(f"{name}.bias", grad.sum(0))
+                add(f"{name}.bias", grad)
+            return grad

# %% hides_the_error
# misconception: __exit__ returns True, which hides the error | hint: feat_error_swallowed
# edits: hook_returns_scaled
-            return grad
@@
+        return True

# %% all_modules_with_weight
# misconception: every module with a weight, also a LayerNorm | hint: per_sample_other_layers
# breaks: of `nn.Linear` layers
# edits: hides_the_error
-            if isinstance(layer, nn.Linear):
+            if hasattr(layer, "weight"):
@@
-        return True

# %% children_only
# misconception: direct children only | hint: per_sample_children_only
# breaks: at any depth
# edits: all_modules_with_weight
-        for name, layer in self.model.named_modules():
-            if hasattr(layer, "weight"):
+        for name, layer in self.model.named_children():
+            if isinstance(layer, nn.Linear):

# %% enter_returns_nothing
# misconception: __enter__ does not return the object | hint: tool_enter_returns_nothing
# edits: hides_the_error
-        return self
@@
-        return True

# %% hooks_left
# misconception: never removes its hooks | hint: tool_hooks_left
# edits: hides_the_error
-        for handle in self.handles:
-            handle.remove()
-        return True
+        pass

# %% cleans_up_without_error_only
# misconception: removes the hooks only where nothing went wrong | hint: tool_not_after_error
# breaks: even after an error, its hooks are gone
# edits: hooks_left
-        pass
+        if error[0] is None:
+            for handle in self.handles:
+                handle.remove()

# %% clears_all_hooks
# misconception: removes everybody's hooks | hint: removes_other_hooks
# edits: hooks_left
-        pass
+        for layer in self.model.modules():
+            layer._forward_hooks.clear()

# %% input_tuple
# misconception: takes the tuple of inputs for the input | hint: per_sample_tuple
# edits: hook_returns_scaled
-            output.register_hook(partial(tensor_hook, name, layer, args[0].detach()))
+            output.register_hook(partial(tensor_hook, name, layer, args.detach()))
@@
-            return grad

# %% last_call_only
# misconception: a reused layer keeps one call | hint: per_sample_one_call
# breaks: then a sample's gradient is the sum over the calls
# edits: hook_returns_scaled
-            return grad
@@
-            self.gradients[name] = self.gradients.get(name, 0) + gradient
+            self.gradients[name] = gradient

# %% late_binding
# misconception: all hooks look the loop variable up when they run | hint: loop_variable
# edits: last_call_only
-                self.handles.append(layer.register_forward_hook(partial(forward_hook, name)))
+                self.handles.append(layer.register_forward_hook(lambda layer, args, output: forward_hook(name, layer, args, output)))

# %% local_result
# misconception: assigns to a name of its own instead of filling the dict | hint: tool_nothing_collected
# edits: last_call_only
-            self.gradients[name] = gradient
+            gradients = {}
+            gradients[name] = gradients.get(name, 0) + gradient

# %% short_names
# misconception: the last part of the dotted name as key | hint: per_sample_short_names
# breaks: the names in `named_parameters()`
# edits: enter_returns_nothing
-                self.handles.append(layer.register_forward_hook(partial(forward_hook, name)))
+                self.handles.append(layer.register_forward_hook(partial(forward_hook, name.split(".")[-1])))
+        return self

# %% skips_first_layer
# misconception: skips layers whose input needs no gradient | hint: per_sample_first_layer
# edits: input_tuple
-            output.register_hook(partial(tensor_hook, name, layer, args.detach()))
+            if args[0].requires_grad:
+                output.register_hook(partial(tensor_hook, name, layer, args[0].detach()))

# %% transposed
# misconception: the outer product the wrong way round | hint: per_sample_transposed
# edits: bias_forgotten
-            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
+            add(f"{name}.weight", torch.einsum("no,ni->nio", grad, x))
+            if layer.bias is not None:
+                add(f"{name}.bias", grad)

# %% batch_summed
# misconception: a matrix product sums over the samples | hint: per_sample_summed
# breaks: **each sample's own loss**
# edits: transposed
-            add(f"{name}.weight", torch.einsum("no,ni->nio", grad, x))
+            add(f"{name}.weight", grad.T @ x)

# %% divides_by_n
# misconception: divides by N instead of multiplying | hint: per_sample_divided_again
# edits: batch_summed
-                grad = grad * len(grad)
-            add(f"{name}.weight", grad.T @ x)
+                grad = grad / len(grad)
+            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))

# %% always_times_n
# misconception: multiplies by N, whatever the loss is | hint: per_sample_factor_for_sum
# breaks: `reduction` says whether the loss is
# edits: divides_by_n
-            if self.reduction == "mean":
-                grad = grad / len(grad)
+            grad = grad * grad.shape[0]

# %% forgets_the_mean
# misconception: takes the gradient at the output as it comes, divided by N | hint: per_sample_still_mean
# breaks: `reduction` says whether the loss is
# edits: always_times_n
-            grad = grad * grad.shape[0]

# %% names_of_modules
# misconception: a parameter's name is its module's, a dot, and "weight" | hint: per_sample_own_names
# breaks: the names in `named_parameters()`
@contextmanager
def PerSampleGradients(model, reduction="mean"):
    found, handles = nn.Identity(), []
    found.gradients = {}

    def look(name, module, args, output):
        def collect(grad):
            grad = grad * (len(grad) if reduction == "mean" else 1)
            values = {"weight": grad[:, :, None] * args[0].detach()[:, None, :], "bias": grad}
            for short, _ in module.named_parameters():
                key = f"{name}.{short}"
                found.gradients[key] = found.gradients.get(key, 0) + values[short]

        output.register_hook(collect)

    try:
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear):
                handles.append(module.register_forward_hook(partial(look, name)))
        yield found
    finally:
        for handle in handles:
            handle.remove()

# %% retain_grad
# misconception: keeps the output, whose gradient is that of what an in-place layer makes of it | hint: per_sample_overwritten
# breaks: **each sample's own loss**
class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.names = {parameter: name for name, parameter in self.model.named_parameters()}
        self.calls = []
        self.handles = [m.register_forward_hook(self.look) for m in self.model.modules() if isinstance(m, nn.Linear)]
        return self

    def look(self, module, args, output):
        output.retain_grad()
        self.calls.append((module, args[0].detach(), output))

    def put(self, parameter, value):
        name = self.names[parameter]
        self.gradients[name] = self.gradients[name] + value if name in self.gradients else value

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
        for module, x, output in self.calls:
            if output.grad is None:
                continue
            grad = output.grad * (len(x) if self.reduction == "mean" else 1)
            self.put(module.weight, grad[:, :, None] * x[:, None, :])
            if module.bias is not None:
                self.put(module.bias, grad.clone())
