# nothing to break: Each `Linear` runs, and the result
# nothing to break: Hooks on outputs may stay with them
# nothing to break: In a block there is one forward of the model and one backward
# nothing to break: In the check the `Linear` layers lie inside the model
# nothing to break: An object is used for one block
# nothing to break: The cells after the exercise go further

# %% all_modules_with_weight
# misconception: every module with a weight, also a LayerNorm | hint: per_sample_other_layers
# breaks: Other layers get no entry
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
            if layer.bias is not None:
                add(f"{name}.bias", grad)

        def add(name, gradient):
            self.gradients[name] = self.gradients.get(name, 0) + gradient

        self.handles = []
        for name, layer in self.model.named_modules():
            if hasattr(layer, "weight"):
                self.handles.append(layer.register_forward_hook(partial(forward_hook, name)))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% always_times_n
# misconception: multiplies by N, whatever the loss is | hint: per_sample_factor_for_sum
# breaks: `reduction` says what the loss is over the samples
# edits: all_modules_with_weight
-            if self.reduction == "mean":
-                grad = grad * len(grad)
+            grad = grad * grad.shape[0]
@@
-            if hasattr(layer, "weight"):
+            if isinstance(layer, nn.Linear):

# %% attributes_on_layers
# misconception: leaves what it has seen on the layers | hint: tool_attributes_left
# breaks: After the block the model carries no hook and no attribute of yours
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handles = []
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                layer.activations = []
                layer.per_sample_name = name
                self.handles.append(layer.register_forward_hook(self.save_activation))
                self.handles.append(layer.register_full_backward_hook(self.save_gradient))
        return self

    def save_activation(self, layer, args, output):
        layer.activations.append(args[0].detach())

    def save_gradient(self, layer, grad_input, grad_output):
        x, g = layer.activations.pop(), grad_output[0]
        if self.reduction == "mean":
            g = g * len(x)
        name = layer.per_sample_name
        self.gradients[name + ".weight"] = self.gradients.get(name + ".weight", 0) + torch.einsum("ni,nj->nij", g, x)
        if layer.bias is not None:
            self.gradients[name + ".bias"] = self.gradients.get(name + ".bias", 0) + g

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% batch_summed
# misconception: a matrix product sums over the samples | hint: per_sample_summed
# breaks: **each sample's own loss**
# edits: always_times_n
-            grad = grad * grad.shape[0]
-            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
+            if self.reduction == "mean":
+                grad = grad * len(grad)
+            add(f"{name}.weight", grad.T @ x)
@@
-                add(f"{name}.bias", grad)
+                add(f"{name}.bias", grad.sum(0))

# %% bias_for_every_layer
# misconception: an entry for the bias of a layer that has none | hint: per_sample_bias_too_many
# edits: batch_summed
-            add(f"{name}.weight", grad.T @ x)
-            if layer.bias is not None:
-                add(f"{name}.bias", grad.sum(0))
+            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
+            add(f"{name}.bias", grad)

# %% bias_forgotten
# misconception: the weights only | hint: per_sample_bias_missing
# breaks: for its bias if it has one
# edits: bias_for_every_layer
-            add(f"{name}.bias", grad)

# %% bias_summed
# misconception: the bias' gradient is summed over the batch | hint: per_sample_bias_summed
# edits: batch_summed
-            add(f"{name}.weight", grad.T @ x)
+            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))

# %% bias_with_extra_dimension
# misconception: the bias gets an outer product with ones | hint: per_sample_bias_row
# edits: bias_summed
-                add(f"{name}.bias", grad.sum(0))
+                add(f"{name}.bias", torch.einsum("no,ni->noi", grad, torch.ones(len(x), 1)))

# %% children_only
# misconception: direct children only | hint: per_sample_children_only
# breaks: For the weight of each `nn.Linear` in the model, at any depth
# edits: all_modules_with_weight
-        for name, layer in self.model.named_modules():
-            if hasattr(layer, "weight"):
+        for name, layer in self.model.named_children():
+            if isinstance(layer, nn.Linear):

# %% class_attribute
# misconception: one dict for all objects of the class | hint: tool_shared_results
# breaks: Each block gathers its own results
# edits: all_modules_with_weight
 class PerSampleGradients:
+    gradients = {}
+
@@
-        self.gradients = {}
@@
-            if hasattr(layer, "weight"):
+            if isinstance(layer, nn.Linear):

# %% cleans_up_without_error_only
# misconception: removes the hooks only where nothing went wrong | hint: tool_not_after_error
# edits: all_modules_with_weight
-            if hasattr(layer, "weight"):
+            if isinstance(layer, nn.Linear):
@@
-        for handle in self.handles:
-            handle.remove()
+        if error[0] is None:
+            for handle in self.handles:
+                handle.remove()

# %% clears_all_hooks
# misconception: removes everybody's hooks | hint: removes_other_hooks
# breaks: hooks of other people stay
# edits: cleans_up_without_error_only
-        if error[0] is None:
-            for handle in self.handles:
-                handle.remove()
+        for layer in self.model.modules():
+            layer._forward_hooks.clear()

# %% clears_the_gradients
# misconception: sets .grad to None at the end, to be tidy | hint: per_sample_changes_grad
# breaks: `.grad` becomes what it is without the tool
# edits: clears_all_hooks
-        for layer in self.model.modules():
-            layer._forward_hooks.clear()
+        for handle in self.handles:
+            handle.remove()
+        self.model.zero_grad()

# %% copies_of_the_gradient
# misconception: repeats the batch's gradient for each sample | hint: per_sample_copies
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.gradients = {}

    def __enter__(self):
        def count(module, args, output):
            self.N = len(args[0])

        self.handle = self.model.register_forward_hook(count)
        return self

    def __exit__(self, *error):
        self.handle.remove()
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                for short, p in layer.named_parameters():
                    if p.grad is not None:
                        self.gradients[f"{name}.{short}"] = p.grad.expand(self.N, *p.shape).clone()

# %% crashes_without_bias
# misconception: reads the shape of a bias that may be None | hint: per_sample_no_bias
# edits: bias_for_every_layer
-            add(f"{name}.bias", grad)
+            add(f"{name}.bias", grad.expand(len(grad), *layer.bias.shape))

# %% default_dict_argument
# misconception: a default argument is one dict for all calls | hint: tool_shared_results
from types import SimpleNamespace


@contextmanager
def PerSampleGradients(model, reduction="mean", gradients={}):
    seen = set()

    def add(name, value):
        gradients[name] = gradients[name] + value if name in seen else value
        seen.add(name)

    def forward_hook(name, layer, args, output):
        x = args[0].detach()

        def tensor_hook(grad):
            g = grad * len(grad) if reduction == "mean" else grad
            add(f"{name}.weight", g[:, :, None] * x[:, None, :])
            if layer.bias is not None:
                add(f"{name}.bias", g)

        output.register_hook(tensor_hook)

    handles = []
    try:
        for name, layer in model.named_modules():
            if isinstance(layer, nn.Linear):
                handles.append(layer.register_forward_hook(partial(forward_hook, name)))
        yield SimpleNamespace(gradients=gradients)
    finally:
        for handle in handles:
            handle.remove()

# %% divides_by_n
# misconception: divides by N instead of multiplying | hint: per_sample_divided_again
# edits: always_times_n
-            grad = grad * grad.shape[0]
+            if self.reduction == "mean":
+                grad = grad / len(grad)

# %% elementwise
# misconception: multiplies elements instead of taking outer products | hint: shapes_do_not_fit
# edits: bias_forgotten
-            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
+            add(f"{name}.weight", grad * x)
+            if layer.bias is not None:
+                add(f"{name}.bias", grad)

# %% enter_returns_nothing
# misconception: __enter__ does not return the object | hint: tool_enter_returns_nothing
# breaks: a context manager
# edits: clears_the_gradients
-        return self
@@
-        self.model.zero_grad()

# %% first_call_only
# misconception: setdefault keeps what came first | hint: per_sample_one_call
# breaks: A layer may be called more than once in one forward
# edits: clears_the_gradients
-            self.gradients[name] = self.gradients.get(name, 0) + gradient
+            self.gradients.setdefault(name, gradient)
@@
-        self.model.zero_grad()

# %% first_in_first_out
# misconception: pairs the calls of a reused layer in forward order | hint: per_sample_wrong_pairs
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}
        self.inputs = {}
        self.handles = []

    def __enter__(self):
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.inputs[name] = []
                self.handles.append(module.register_forward_hook(partial(self.forward_hook, name)))
                self.handles.append(module.register_full_backward_hook(partial(self.backward_hook, name)))
        return self

    def forward_hook(self, name, module, args, output):
        self.inputs[name].append(args[0].detach())

    def backward_hook(self, name, module, grad_input, grad_output):
        x = self.inputs[name].pop(0)
        g = grad_output[0]
        if self.reduction == "mean":
            g = g * g.shape[0]
        for key, value in ((f"{name}.weight", g[:, :, None] * x[:, None, :]), (f"{name}.bias", g)):
            if key.endswith("bias") and module.bias is None:
                continue
            self.gradients[key] = self.gradients[key] + value if key in self.gradients else value

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% forgets_the_mean
# misconception: takes the gradient at the output as it comes, divided by N | hint: per_sample_still_mean
# breaks: is the parameter's `.grad`
# edits: always_times_n
-            grad = grad * grad.shape[0]

# %% global_hook_stays
# misconception: a hook for all modules of the process that nobody removes | hint: tool_hooks_left
class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.names = {m: name for name, m in model.named_modules() if isinstance(m, nn.Linear)}
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        nn.modules.module.register_module_forward_hook(self.forward_hook)
        self.active = True
        return self

    def forward_hook(self, module, args, output):
        if self.active and module in self.names:
            output.register_hook(partial(self.collect, self.names[module], module, args[0].detach()))

    def collect(self, name, module, x, grad):
        if self.reduction == "mean":
            grad = grad * len(grad)
        parts = {f"{name}.weight": torch.einsum("no,ni->noi", grad, x)}
        if module.bias is not None:
            parts[f"{name}.bias"] = grad
        for key, value in parts.items():
            self.gradients[key] = self.gradients.get(key, 0) + value

    def __exit__(self, *error):
        self.active = False

# %% grad_input
# misconception: the gradient at the layer's input instead of the one at its output | hint: per_sample_grad_input
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handles, self.inputs = [], {}

        def forward_hook(name, module, args, output):
            self.inputs.setdefault(name, []).append(args[0].detach())

        def backward_hook(name, module, grad_input, grad_output):
            x, g = self.inputs[name].pop(), grad_input[0]
            if self.reduction == "mean":
                g = g * len(g)
            self.gradients[f"{name}.weight"] = self.gradients.get(f"{name}.weight", 0) + torch.einsum("no,ni->noi", g, x)
            if module.bias is not None:
                self.gradients[f"{name}.bias"] = self.gradients.get(f"{name}.bias", 0) + g

        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.handles.append(module.register_forward_hook(partial(forward_hook, name)))
                self.handles.append(module.register_full_backward_hook(partial(backward_hook, name)))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% grad_output_is_tuple
# misconception: multiplies with the tuple of output gradients | hint: per_sample_tuple
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handles, self.inputs = [], {}
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.handles.append(module.register_forward_hook(partial(self.forward_hook, name)))
                self.handles.append(module.register_full_backward_hook(partial(self.backward_hook, name)))
        return self

    def forward_hook(self, name, module, args, output):
        self.inputs[name] = args[0].detach()

    def backward_hook(self, name, module, grad_input, grad_output):
        N = len(self.inputs[name]) if self.reduction == "mean" else 1
        self.gradients[name + ".weight"] = N * torch.einsum("no,ni->noi", grad_output, self.inputs[name])
        if module.bias is not None:
            self.gradients[name + ".bias"] = N * grad_output

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% hook_returns_scaled
# misconception: the tensor hook hands the scaled gradient on | hint: per_sample_changes_grad
# breaks: It only looks
# edits: bias_summed
-                add(f"{name}.bias", grad.sum(0))
+                add(f"{name}.bias", grad)
+            return grad

# %% hooks_left
# misconception: never removes its hooks | hint: tool_hooks_left
# edits: clears_all_hooks
-        for layer in self.model.modules():
-            layer._forward_hooks.clear()
+        pass

# %% input_tuple
# misconception: takes the tuple of inputs for the input | hint: per_sample_tuple
# edits: clears_the_gradients
-            output.register_hook(partial(tensor_hook, name, layer, args[0].detach()))
+            output.register_hook(partial(tensor_hook, name, layer, args.detach()))
@@
-        self.model.zero_grad()

# %% input_tuple_to_einsum
# misconception: hands the tuple of inputs to einsum | hint: per_sample_tuple
# edits: input_tuple
-            output.register_hook(partial(tensor_hook, name, layer, args.detach()))
+            output.register_hook(partial(tensor_hook, name, layer, args))

# %% last_call_only
# misconception: a reused layer keeps one call | hint: per_sample_one_call
# breaks: Then a sample's gradient is the sum over the calls
# edits: first_call_only
-            self.gradients.setdefault(name, gradient)
+            self.gradients[name] = gradient

# %% late_binding
# misconception: all hooks look the loop variable up when they run | hint: loop_variable
# edits: last_call_only
-                self.handles.append(layer.register_forward_hook(partial(forward_hook, name)))
+                self.handles.append(layer.register_forward_hook(lambda layer, args, output: forward_hook(name, layer, args, output)))

# %% latest_input
# misconception: an attribute that holds the input of the latest call only | hint: per_sample_wrong_pairs
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.layers = {name: m for name, m in model.named_modules() if isinstance(m, nn.Linear)}
        self.reduction = reduction
        self.gradients = {}
        self.activations = {}

    def __enter__(self):
        self.handles = []
        for name, layer in self.layers.items():
            self.handles += [
                layer.register_forward_hook(partial(self.save_input, name)),
                layer.register_full_backward_hook(partial(self.save_gradient, name)),
            ]
        return self

    def save_input(self, name, layer, args, output):
        self.activations[name] = args[0].detach()

    def save_gradient(self, name, layer, grad_input, grad_output):
        x, grad = self.activations[name], grad_output[0]
        if self.reduction == "mean":
            grad = grad * x.shape[0]
        self.add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
        if layer.bias is not None:
            self.add(f"{name}.bias", grad)

    def add(self, key, value):
        self.gradients[key] = self.gradients.get(key, 0) + value

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% layer_names
# misconception: one entry a layer, the weight's, under the layer's name | hint: per_sample_layer_names
# edits: bias_forgotten
-            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
+            add(name, torch.einsum("no,ni->noi", grad, x))

# %% list_of_calls
# misconception: stacks the calls of a reused layer instead of adding them | hint: per_sample_calls_listed
# edits: first_call_only
-            self.gradients.setdefault(name, gradient)
+            self.gradients[name] = torch.cat([self.gradients[name], gradient]) if name in self.gradients else gradient

# %% local_result
# misconception: assigns to a name of its own instead of filling the dict | hint: tool_nothing_collected
# edits: first_call_only
-            self.gradients.setdefault(name, gradient)
+            gradients = {}
+            gradients[name] = gradients.get(name, 0) + gradient

# %% mean_factor_on_weight_only
# misconception: the factor for the mean is forgotten for the bias | hint: per_sample_factor_on_one
# edits: forgets_the_mean
-            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
+            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x) * (len(x) if self.reduction == "mean" else 1))

# %% no_finally
# misconception: a generator whose clean-up is skipped by an error | hint: tool_not_after_error
# breaks: also if the block has raised an error
from types import SimpleNamespace


@contextmanager
def PerSampleGradients(model, reduction="mean"):
    result = SimpleNamespace(gradients={})

    def add(name, value):
        result.gradients[name] = result.gradients.get(name, 0) + value

    def forward_hook(name, layer, args, output):
        x = args[0].detach()

        def tensor_hook(grad):
            g = grad * len(grad) if reduction == "mean" else grad
            add(f"{name}.weight", g[:, :, None] * x[:, None, :])
            if layer.bias is not None:
                add(f"{name}.bias", g)

        output.register_hook(tensor_hook)

    handles = [
        layer.register_forward_hook(partial(forward_hook, name))
        for name, layer in model.named_modules()
        if isinstance(layer, nn.Linear)
    ]
    yield result
    for handle in handles:
        handle.remove()

# %% norms_only
# misconception: keeps the norm of each sample's gradient, not the gradient | hint: per_sample_norms
# edits: bias_forgotten
-            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
+            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x).flatten(1).norm(dim=1))
+            if layer.bias is not None:
+                add(f"{name}.bias", grad.norm(dim=1))

# %% output_for_input
# misconception: uses the layer's output | hint: per_sample_output_for_input
# edits: input_tuple
-            output.register_hook(partial(tensor_hook, name, layer, args.detach()))
+            output.register_hook(partial(tensor_hook, name, layer, output.detach()))

# %% parameter_hooks
# misconception: hooks on the parameters: the batch is summed by then | hint: per_sample_summed
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.gradients = {}

    def __enter__(self):
        self.handles = []
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                for short, parameter in layer.named_parameters():
                    self.handles.append(parameter.register_hook(partial(self.gradients.__setitem__, f"{name}.{short}")))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% parameters_as_keys
# misconception: keys are the parameters themselves | hint: per_sample_object_keys
# edits: bias_forgotten
-            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
+            add(layer.weight, torch.einsum("no,ni->noi", grad, x))
+            if layer.bias is not None:
+                add(layer.bias, grad)

# %% patched_forward_stays
# misconception: replaces forward and leaves it so | hint: tool_attributes_left
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                layer.forward = partial(self.forward, name, layer)
        return self

    def forward(self, name, layer, x):
        output = F.linear(x, layer.weight, layer.bias)
        if output.requires_grad:
            output.register_hook(partial(self.collect, name, layer, x.detach()))
        return output

    def collect(self, name, layer, x, grad):
        if self.reduction == "mean":
            grad = grad * len(grad)
        self.gradients[f"{name}.weight"] = self.gradients.get(f"{name}.weight", 0) + grad[:, :, None] * x[:, None, :]
        if layer.bias is not None:
            self.gradients[f"{name}.bias"] = self.gradients.get(f"{name}.bias", 0) + grad

    def __exit__(self, *error):
        return False

# %% removes_last_handle
# misconception: keeps one handle for all hooks | hint: tool_hooks_left
# edits: hooks_left
-                self.handles.append(layer.register_forward_hook(partial(forward_hook, name)))
+                self.handle = layer.register_forward_hook(partial(forward_hook, name))
@@
-        pass
+        self.handle.remove()

# %% results_in_a_global
# misconception: one dict in the notebook for all blocks | hint: tool_shared_results
per_sample_gradients = {}


class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = per_sample_gradients

    def __enter__(self):
        per_sample_gradients.clear()
        self.handles = [
            layer.register_forward_hook(partial(self.forward_hook, name))
            for name, layer in self.model.named_modules()
            if isinstance(layer, nn.Linear)
        ]
        return self

    def forward_hook(self, name, layer, args, output):
        x = args[0].detach()

        def tensor_hook(grad):
            factor = len(grad) if self.reduction == "mean" else 1
            found = {f"{name}.weight": factor * torch.einsum("no,ni->noi", grad, x)}
            if layer.bias is not None:
                found[f"{name}.bias"] = factor * grad
            for key, value in found.items():
                per_sample_gradients[key] = per_sample_gradients.get(key, 0) + value

        output.register_hook(tensor_hook)

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% scales_in_place
# misconception: scales the gradient in place | hint: per_sample_changes_grad
# edits: divides_by_n
-                grad = grad / len(grad)
+                grad *= len(grad)

# %% short_names
# misconception: the last part of the dotted name as key | hint: per_sample_short_names
# breaks: The keys are the names in `model.named_parameters()`
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

# %% sum_and_mean_swapped
# misconception: multiplies by N where the loss is a sum | hint: per_sample_still_mean
# edits: always_times_n
-            grad = grad * grad.shape[0]
+            if self.reduction == "sum":
+                grad = grad * len(grad)

# %% swallows_errors
# misconception: __exit__ returns True | hint: tool_swallows_error
# breaks: the error is passed on
# edits: clears_the_gradients
-        self.model.zero_grad()
+        return True

# %% times_all_elements
# misconception: multiplies by the number of elements of the gradient, not of samples | hint: per_sample_factor_of_elements
# edits: divides_by_n
-                grad = grad / len(grad)
+                grad = grad * grad.numel()

# %% times_the_features
# misconception: takes the last dimension for the batch | hint: per_sample_factor_of_elements
# edits: divides_by_n
-                grad = grad / len(grad)
+                grad = grad * grad.shape[-1]

# %% transposed
# misconception: the outer product the wrong way round | hint: per_sample_transposed
# edits: elementwise
-            add(f"{name}.weight", grad * x)
+            add(f"{name}.weight", torch.einsum("no,ni->nio", grad, x))

# %% transposed_bmm
# misconception: input times gradient, so (N, in, out) | hint: per_sample_transposed
# edits: elementwise
-            add(f"{name}.weight", grad * x)
+            add(f"{name}.weight", torch.bmm(x.unsqueeze(2), grad.unsqueeze(1)))

# %% yields_the_dict
# misconception: hands out the dict instead of an object that holds it | hint: per_sample_no_object
# breaks: `gradients` is a dict
# edits: enter_returns_nothing
                 self.handles.append(layer.register_forward_hook(partial(forward_hook, name)))
+        return self.gradients

# %% writes_grad_itself
# misconception: replaces .grad by what the samples give, whatever was there before | hint: per_sample_changes_grad
class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        def look(name, layer, args, output):
            output.register_hook(partial(collect, name, layer, args[0].detach()))

        def collect(name, layer, x, grad):
            if self.reduction == "mean":
                grad = grad * len(grad)
            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
            if layer.bias is not None:
                add(f"{name}.bias", grad)

        def add(name, gradient):
            self.gradients[name] = self.gradients.get(name, 0) + gradient

        self.handles = [
            layer.register_forward_hook(partial(look, name))
            for name, layer in self.model.named_modules()
            if isinstance(layer, nn.Linear)
        ]
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
        for name, gradient in self.gradients.items():
            total = gradient.mean(0) if self.reduction == "mean" else gradient.sum(0)
            self.model.get_parameter(name).grad = total

# %% shared_layer_twice
# misconception: walks down by hand, and hooks a layer once for each of its names | hint: per_sample_names_of_one_layer
# edits: writes_grad_itself
-        self.handles = [
-            layer.register_forward_hook(partial(look, name))
-            for name, layer in self.model.named_modules()
-            if isinstance(layer, nn.Linear)
-        ]
+        self.handles = []
+
+        def walk(prefix, module):
+            for name, child in module._modules.items():
+                if isinstance(child, nn.Linear):
+                    self.handles.append(child.register_forward_hook(partial(look, prefix + name)))
+                elif child is not None:
+                    walk(f"{prefix}{name}.", child)
+
+        walk("", self.model)
@@
-        for name, gradient in self.gradients.items():
-            total = gradient.mean(0) if self.reduction == "mean" else gradient.sum(0)
-            self.model.get_parameter(name).grad = total

# %% squeezes
# misconception: squeezes all dimensions of size 1 | hint: per_sample_squeezed
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model, self.reduction, self.gradients = model, reduction, {}

    def __enter__(self):
        def look(name, layer, args, output):
            output.register_hook(partial(collect, name, layer, args[0].detach()))

        def collect(name, layer, x, grad):
            if self.reduction == "mean":
                grad = grad * len(grad)
            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x).squeeze())
            if layer.bias is not None:
                add(f"{name}.bias", grad.squeeze())

        def add(name, gradient):
            self.gradients[name] = self.gradients.get(name, 0) + gradient

        self.handles = [layer.register_forward_hook(partial(look, name)) for name, layer in self.model.named_modules() if isinstance(layer, nn.Linear)]
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% adds_to_grad_in_place
# misconception: adds calls up in place, in the gradient that autograd handed over | hint: per_sample_changes_grad
# breaks: `.grad` becomes what it is without the tool
class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.gradients, self.handles = {}, []
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.handles.append(module.register_forward_hook(partial(self.look, name)))
        return self

    def look(self, name, layer, args, output):
        x = args[0].detach()
        self.handles.append(output.register_hook(partial(self.back, name, layer, x)))

    def back(self, name, layer, x, grad):
        if self.reduction == "mean":
            grad = grad * len(x)
        self.add(name + ".weight", torch.einsum("no,ni->noi", grad, x))
        if layer.bias is not None:
            self.add(name + ".bias", grad)

    def add(self, key, value):
        self.gradients[key] = self.gradients[key].add_(value) if key in self.gradients else value

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% input_requires_grad
# misconception: sets requires_grad on the inputs | hint: per_sample_flags_x
# breaks: `.grad` becomes what it is without the tool, and no tensor
# edits: adds_to_grad_in_place
-        x = args[0].detach()
+        x = args[0]
+        if not x.requires_grad:
+            x.requires_grad_()
+        x = x.detach()
@@
-            self.add(name + ".bias", grad)
+            self.add(name + ".bias", grad.clone())
@@
-        self.gradients[key] = self.gradients[key].add_(value) if key in self.gradients else value
+        self.gradients[key] = self.gradients[key] + value if key in self.gradients else value

# %% puts_back_the_hooks_of_the_beginning
# misconception: puts back the hooks of the beginning, without those that came in the block | hint: removes_other_hooks
# breaks: hooks of other people stay
class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.before = {}
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.before[module] = module._forward_hooks.copy()
                module.register_forward_hook(partial(self.look, name))
        return self

    def look(self, name, module, args, output):
        x = args[0].detach()
        output.register_hook(partial(self.back, name, module, x))

    def back(self, name, module, x, grad):
        each = grad * len(grad) if self.reduction == "mean" else grad.clone()
        self.add(name + ".weight", torch.einsum("no,ni->noi", each, x))
        if module.bias is not None:
            self.add(name + ".bias", each)

    def add(self, key, value):
        self.gradients[key] = self.gradients[key] + value if key in self.gradients else value

    def __exit__(self, *error):
        for module, hooks in self.before.items():
            module._forward_hooks = hooks

# %% every_matrix
# misconception: takes every layer whose weight is a matrix | hint: per_sample_other_layers
# breaks: Other layers get no entry
class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handles = []
        for name, module in self.model.named_modules():
            weight = getattr(module, "weight", None)
            if isinstance(weight, Parameter) and weight.dim() == 2:
                self.handles.append(module.register_forward_hook(partial(self.look, name)))
        return self

    def look(self, name, module, args, output):
        x = args[0].detach()
        output.register_hook(partial(self.back, name, module, x))

    def back(self, name, module, x, grad):
        each = grad * len(grad) if self.reduction == "mean" else grad.clone()
        self.add(name + ".weight", torch.einsum("no,n...->no...", each, x))
        if getattr(module, "bias", None) is not None:
            self.add(name + ".bias", each)

    def add(self, key, value):
        self.gradients[key] = self.gradients[key] + value if key in self.gradients else value

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% hooks_in_init
# misconception: registers its hooks when the object is made | hint: tool_before_the_block
# breaks: Each block gathers its own results
# edits: every_matrix
         self.gradients = {}
+        self.handles = []
+        for name, module in self.model.named_modules():
+            if isinstance(module, nn.Linear):
+                self.handles.append(module.register_forward_hook(partial(self.look, name)))
@@
-        self.handles = []
-        for name, module in self.model.named_modules():
-            weight = getattr(module, "weight", None)
-            if isinstance(weight, Parameter) and weight.dim() == 2:
-                self.handles.append(module.register_forward_hook(partial(self.look, name)))
@@
-        self.add(name + ".weight", torch.einsum("no,n...->no...", each, x))
-        if getattr(module, "bias", None) is not None:
+        self.add(name + ".weight", torch.einsum("no,ni->noi", each, x))
+        if module.bias is not None:

# %% reduction_of_the_class
# misconception: keeps the reduction on the class | hint: tool_shared_results
# breaks: `reduction` says what the loss is over the samples
class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        PerSampleGradients.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handles = []
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                self.handles.append(layer.register_forward_hook(partial(self.look, name)))
        return self

    def look(self, name, layer, args, output):
        output.register_hook(partial(self.gather, name, layer, args[0].detach()))

    def gather(self, name, layer, x, grad):
        if self.reduction == "mean":
            grad = grad * len(grad)
        self.add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
        if layer.bias is not None:
            self.add(f"{name}.bias", grad)

    def add(self, name, gradient):
        self.gradients[name] = self.gradients.get(name, 0) + gradient

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% scales_the_running_sum
# misconception: scales what has been gathered so far at each call | hint: per_sample_scaled_again
# breaks: a sample's gradient is the sum over the calls
class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handles = []
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.handles.append(module.register_forward_hook(partial(self.look, name)))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

    def look(self, name, module, args, output):
        x = args[0].detach()

        def collect(grad):
            n = len(grad) if self.reduction == "mean" else 1
            weight = torch.einsum("no,ni->noi", grad, x)
            self.gradients[f"{name}.weight"] = n * (self.gradients.get(f"{name}.weight", 0) + weight)
            if module.bias is not None:
                self.gradients[f"{name}.bias"] = n * (self.gradients.get(f"{name}.bias", 0) + grad)

        output.register_hook(collect)

# %% empties_grad_data
# misconception: gives each .grad an empty .data as the block begins | hint: per_sample_changes_grad
# breaks: `.grad` becomes what it is without the tool
class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handles = []
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.handles.append(module.register_forward_hook(partial(self.look, name)))
        for p in self.model.parameters():
            if p.grad is not None:
                p.grad.data = torch.empty(0)
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

    def look(self, name, module, args, output):
        output.register_hook(partial(self.collect, name, module, args[0].detach()))

    def collect(self, name, module, x, grad):
        grad = grad * len(grad) if self.reduction == "mean" else grad
        self.add(name + ".weight", grad[:, :, None] * x[:, None, :])
        if module.bias is not None:
            self.add(name + ".bias", grad)

    def add(self, key, value):
        self.gradients[key] = self.gradients[key] + value if key in self.gradients else value

# %% zeroes_what_it_has_seen
# misconception: sets the gradient to zero once it has been noted | hint: per_sample_changes_grad
# breaks: It only looks
# edits: empties_grad_data
-        for p in self.model.parameters():
-            if p.grad is not None:
-                p.grad.data = torch.empty(0)
@@
     def collect(self, name, module, x, grad):
+        args_grad = grad
@@
-            self.add(name + ".bias", grad)
+            self.add(name + ".bias", grad.clone())
+        args_grad.data.zero_()
