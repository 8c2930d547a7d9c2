# nothing to break: Write `grad_cam(model, layer, x, targets)`
# nothing to break: In the check the model is in evaluation mode
# nothing to break: raises an error that says so
# nothing to break: If a layer runs several times

# %% absolute_value
# misconception: takes the absolute value at the end | hint: cam_abs
def grad_cam(model, layer, x, targets):
    activations, gradients = [], []

    def forward_hook(module, inputs, output):
        activations.append(output.detach().clone())
        output.register_hook(lambda grad: gradients.append(grad))

    module = dict(model.named_modules())[layer]
    handle = module.register_forward_hook(forward_hook)
    try:
        inputs = x.clone().detach().requires_grad_(True)
        output = model(inputs)
        score = output[torch.arange(x.size(0)), targets].sum()
        torch.autograd.grad(score, inputs)
    finally:
        handle.remove()

    acts, grads = activations[0], gradients[0]
    weights = grads.mean(dim=(2, 3), keepdim=True)
    cam = (weights * acts).sum(dim=1)
    return cam.abs()

# %% alias
# misconception: keeps the output without a copy | hint: cam_overwritten
# breaks: `A` is what the layer returned
def grad_cam(model, layer, x, targets):
    caught = {}

    def catch(module, args, output):
        caught["output"] = output
        output.register_hook(partial(caught.__setitem__, "gradient"))

    x = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(catch):
        scores = model(x).gather(1, targets[:, None])
        torch.autograd.grad(scores.sum(), x)
    weights = caught["gradient"].mean((2, 3), keepdim=True)
    return (weights * caught["output"]).sum(1).relu()

# %% all_scores
# misconception: the sum of all scores | hint: cam_all_classes
# edits: alias
-        caught["output"] = output
+        caught["output"] = output.detach().clone()
@@
-        scores = model(x).gather(1, targets[:, None])
+        scores = model(x)

# %% backward_fills_grad
# misconception: backward() adds to every .grad | hint: cam_fills_grad
# breaks: Every `.grad` and every `requires_grad` is as it was
# edits: absolute_value
-        torch.autograd.grad(score, inputs)
+        score.backward()
@@
-    return cam.abs()
+    return F.relu(cam)

# %% backward_of_a_vector
# misconception: backward of one score for each picture | hint: cam_one_number
# edits: all_scores
-        scores = model(x)
-        torch.autograd.grad(scores.sum(), x)
+        scores = model(x).gather(1, targets[:, None])
+        torch.autograd.grad(scores, x)

# %% calls_the_layer
# misconception: runs the layer on the picture itself | hint: cam_outside_the_graph
def grad_cam(model, layer, x, targets):
    output = model.get_submodule(layer)(x.detach().clone().requires_grad_())
    scores = model(x).gather(1, targets[:, None])
    (gradient,) = torch.autograd.grad(scores.sum(), output)
    return (gradient.mean((2, 3), keepdim=True) * output).sum(1).relu()

# %% changes_the_input
# misconception: makes the caller's pictures require a gradient | hint: cam_changes_x
# breaks: that of `x` as well
# edits: absolute_value
-        inputs = x.clone().detach().requires_grad_(True)
+        inputs = x.requires_grad_(True)
@@
-    return cam.abs()
+    return F.relu(cam)

# %% children_only
# misconception: looks among the direct children | hint: dotted_name
# edits: absolute_value
-    module = dict(model.named_modules())[layer]
+    module = dict(model.named_children())[layer]
@@
-    return cam.abs()
+    return F.relu(cam)

# %% class_of_the_first
# misconception: one class for the whole batch | hint: cam_one_class_for_all
# breaks: Each picture counts for itself
# edits: backward_fills_grad
-        score = output[torch.arange(x.size(0)), targets].sum()
-        score.backward()
+        score = output[:, int(targets[0])].sum()
+        torch.autograd.grad(score, inputs)

# %% clears_hooks
# misconception: clears all hooks of the layer | hint: removes_other_hooks
# breaks: the hooks of others are still there
# edits: absolute_value
-        handle.remove()
+        module._forward_hooks.clear()
@@
-    return cam.abs()
+    return F.relu(cam)

# %% clone_beside_the_way
# misconception: asks for the gradient of a clone that nothing depends on | hint: cam_outside_the_graph
def grad_cam(model, layer, x, targets):
    kept = []
    with model.get_submodule(layer).register_forward_hook(lambda module, args, output: kept.append(output.clone())):
        scores = model(x.detach().clone().requires_grad_())
    (gradient,) = torch.autograd.grad(scores.gather(1, targets[:, None]).sum(), kept[0])
    return (gradient.mean((2, 3), keepdim=True) * kept[0]).sum(1).relu()

# %% columns_of_all_rows
# misconception: indexes the columns only | hint: cam_all_classes
# edits: class_of_the_first
-        score = output[:, int(targets[0])].sum()
+        score = output[:, targets].sum()

# %% cross_entropy
# misconception: the gradient of the loss | hint: cam_softmax
# edits: class_of_the_first
-        score = output[:, int(targets[0])].sum()
+        score = F.cross_entropy(output, targets)

# %% detached_alias
# misconception: detaches, and shares the memory | hint: cam_overwritten
# edits: absolute_value
-        activations.append(output.detach().clone())
+        activations.append(output.detach())
@@
-    return cam.abs()
+    return F.relu(cam)

# %% detached_leaf
# misconception: asks for the gradient of a detached copy | hint: cam_outside_the_graph
def grad_cam(model, layer, x, targets):
    kept = {}

    def keep(module, args, output):
        kept["output"] = output.detach().clone().requires_grad_()

    with model.get_submodule(layer).register_forward_hook(keep):
        scores = model(x)
    (gradient,) = torch.autograd.grad(scores[torch.arange(len(x)), targets].sum(), kept["output"])
    return (gradient.mean((2, 3), keepdim=True) * kept["output"]).sum(1).relu()

# %% first_picture
# misconception: the map of the first picture | hint: cam_first_picture_only
# edits: absolute_value
-    acts, grads = activations[0], gradients[0]
+    acts, grads = activations[0][0:1], gradients[0][0:1]
@@
-    return cam.abs()
+    return F.relu(cam)

# %% first_picture_squeezed
# misconception: takes the first picture out of the batch | hint: cam_first_picture_only
def grad_cam(model, layer, x, targets):
    seen = {}

    def hook(module, args, output):
        seen["a"] = output.detach().clone()
        output.register_hook(lambda grad: seen.update(g=grad))

    images = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(hook):
        torch.autograd.grad(model(images)[0, targets[0]], images)
    activation, gradient = seen["a"][0], seen["g"][0]
    alpha = gradient.mean((1, 2))
    return (alpha[:, None, None] * activation).sum(0).relu()

# %% full_backward_hook
# misconception: a full backward hook, which the in-place ReLU does not stand | hint: in_place_after_full_hook
def grad_cam(model, layer, x, targets):
    seen = {}

    def forward_hook(module, args, output):
        seen["activations"] = output.detach().clone()

    def backward_hook(module, grad_input, grad_output):
        seen["gradients"] = grad_output[0].detach()

    module = model.get_submodule(layer)
    images = x.detach().clone().requires_grad_()
    with module.register_forward_hook(forward_hook), module.register_full_backward_hook(backward_hook):
        scores = model(images)
        torch.autograd.grad(scores.gather(1, targets[:, None]).sum(), images)
    weights = seen["gradients"].mean((2, 3), keepdim=True)
    return (weights * seen["activations"]).sum(1).relu()

# %% getattr_for_dotted_names
# misconception: getattr with a dotted name | hint: dotted_name
# breaks: `layer` is the dotted name of a layer
# edits: children_only
-    module = dict(model.named_children())[layer]
+    module = getattr(model, layer)

# %% gradient_asked_for_later
# misconception: autograd.grad with respect to the kept tensor, which the ReLU has overwritten | hint: cam_overwritten
def grad_cam(model, layer, x, targets):
    kept = {}

    def keep(module, args, output):
        kept["output"] = output

    x = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(keep):
        scores = model(x)
    A = kept["output"]
    (G,) = torch.autograd.grad(scores.gather(1, targets[:, None]).sum(), A)
    return (G.mean((2, 3), keepdim=True) * A).sum(1).relu().detach()

# %% gradient_of_the_input
# misconception: the gradient with respect to the layer's input | hint: cam_input_side
def grad_cam(model, layer, x, targets):
    seen = {}

    def backward_hook(module, grad_input, grad_output):
        seen["gradient"] = grad_input[0]

    def forward_hook(module, args, output):
        seen["output"] = args[0].detach().clone()

    module = model.get_submodule(layer)
    images = x.detach().clone().requires_grad_()
    with module.register_forward_hook(forward_hook), module.register_full_backward_hook(backward_hook):
        torch.autograd.grad(model(images).gather(1, targets[:, None]).sum(), images)
    weights = seen["gradient"].mean((2, 3), keepdim=True)
    return (weights * seen["output"]).sum(1).relu()

# %% gradient_only
# misconception: a map of the gradient alone | hint: cam_one_factor
# edits: absolute_value
-    weights = grads.mean(dim=(2, 3), keepdim=True)
-    cam = (weights * acts).sum(dim=1)
-    return cam.abs()
+    return grads.abs().mean(dim=1)

# %% highest_score
# misconception: the class that the model prefers | hint: cam_best_class
# edits: class_of_the_first
-        score = output[:, int(targets[0])].sum()
+        score = output.max(dim=1).values.sum()

# %% hook_returns_the_copy
# misconception: the forward hook returns a detached copy, so nothing flows back | hint: cam_outside_the_graph
# edits: alias
-        caught["output"] = output
+        caught["output"] = output.detach().clone()
@@
         output.register_hook(partial(caught.__setitem__, "gradient"))
+        return caught["output"]

# %% hook_stays
# misconception: never removes its hook | hint: gfd_leaves_hooks
# breaks: Nothing is left behind
def grad_cam(model, layer, x, targets):
    caught = {}

    def catch(module, args, output):
        caught["output"] = output.detach().clone()
        output.register_hook(partial(caught.__setitem__, "gradient"))

    model.get_submodule(layer).register_forward_hook(catch)
    x = x.detach().clone().requires_grad_()
    torch.autograd.grad(model(x).gather(1, targets[:, None]).sum(), x)
    weights = caught["gradient"].mean((2, 3), keepdim=True)
    return (weights * caught["output"]).sum(1).relu()

# %% hook_stays_after_an_error
# misconception: removes its hook only if all goes well | hint: gfd_no_finally
# breaks: Your hooks are gone
def grad_cam(model, layer, x, targets):
    activations, gradients = [], []

    def forward_hook(module, inputs, output):
        activations.append(output.detach().clone())
        output.register_hook(lambda grad: gradients.append(grad))

    module = dict(model.named_modules())[layer]
    handle = module.register_forward_hook(forward_hook)
    inputs = x.clone().detach().requires_grad_(True)
    output = model(inputs)
    score = output[torch.arange(x.size(0)), targets].sum()
    torch.autograd.grad(score, inputs)
    handle.remove()

    acts, grads = activations[0], gradients[0]
    weights = grads.mean(dim=(2, 3), keepdim=True)
    cam = (weights * acts).sum(dim=1)
    return F.relu(cam)

# %% keeps_the_dimension
# misconception: leaves a dimension of size 1 | hint: cam_keeps_dimension
# edits: absolute_value
-    cam = (weights * acts).sum(dim=1)
-    return cam.abs()
+    cam = (weights * acts).sum(dim=1, keepdim=True)
+    return F.relu(cam)

# %% largest_gradient
# misconception: the largest gradient of each channel | hint: cam_other_pooling
# edits: backward_of_a_vector
-        torch.autograd.grad(scores, x)
-    weights = caught["gradient"].mean((2, 3), keepdim=True)
+        torch.autograd.grad(scores.sum(), x)
+    weights = caught["gradient"].amax((2, 3), keepdim=True)

# %% lists_of_the_notebook
# misconception: lists of the notebook, of which the first entry is read | hint: stale_result
activations, gradients = [], []


def forward_hook(module, args, output):
    activations.append(output.detach().clone())
    output.register_hook(gradients.append)


def grad_cam(model, layer, x, targets):
    images = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(forward_hook):
        torch.autograd.grad(model(images).gather(1, targets[:, None]).sum(), images)
    weights = gradients[0].mean((2, 3), keepdim=True)
    return (weights * activations[0]).sum(1).relu()

# %% local_names
# misconception: assigns to local names inside the hook | hint: cam_never_caught
def grad_cam(model, layer, x, targets):
    activation = gradient = None

    def hook(module, args, output):
        activation = output.detach().clone()

        def on_gradient(grad):
            gradient = grad

        output.register_hook(on_gradient)

    images = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(hook):
        torch.autograd.grad(model(images).gather(1, targets[:, None]).sum(), images)
    weights = gradient.mean((2, 3), keepdim=True)
    return (weights * activation).sum(1).relu()

# %% log_softmax
# misconception: the gradient of the log-probability | hint: cam_softmax
# edits: changes_the_input
-        inputs = x.requires_grad_(True)
-        output = model(inputs)
+        inputs = x.clone().detach().requires_grad_(True)
+        output = F.log_softmax(model(inputs), dim=1)

# %% mean_absolute_gradient
# misconception: the mean size of the gradient | hint: cam_other_pooling
# edits: first_picture
-    acts, grads = activations[0][0:1], gradients[0][0:1]
-    weights = grads.mean(dim=(2, 3), keepdim=True)
+    acts, grads = activations[0], gradients[0]
+    weights = grads.abs().mean(dim=(2, 3), keepdim=True)

# %% mean_over_batch
# misconception: weights from the mean over batch and positions | hint: cam_batch_mixed
# edits: largest_gradient
-    weights = caught["gradient"].amax((2, 3), keepdim=True)
+    weights = caught["gradient"].mean((0, 2, 3), keepdim=True)

# %% mean_over_channels
# misconception: the mean over the channels | hint: cam_mean_over_channels
# edits: mean_absolute_gradient
-    weights = grads.abs().mean(dim=(2, 3), keepdim=True)
+    weights = grads.mean(dim=1, keepdim=True)

# %% mean_over_everything
# misconception: one weight for each picture | hint: cam_mean_over_channels
# edits: largest_gradient
-    weights = caught["gradient"].amax((2, 3), keepdim=True)
+    weights = caught["gradient"].mean((1, 2, 3), keepdim=True)

# %% mean_score
# misconception: the mean of the scores | hint: cam_mean_score
# edits: backward_of_a_vector
-        torch.autograd.grad(scores, x)
+        torch.autograd.grad(scores.mean(), x)

# %% min_max
# misconception: scales the whole batch to the range from 0 to 1 | hint: cam_scaled
# edits: largest_gradient
-    weights = caught["gradient"].amax((2, 3), keepdim=True)
-    return (weights * caught["output"]).sum(1).relu()
+    weights = caught["gradient"].mean((2, 3), keepdim=True)
+    heat = (weights * caught["output"]).sum(1).relu()
+    return (heat - heat.min()) / (heat.max() - heat.min())

# %% minus_cross_entropy
# misconception: the gradient of minus the loss | hint: cam_softmax
# edits: class_of_the_first
-        score = output[:, int(targets[0])].sum()
+        score = -F.cross_entropy(output, targets, reduction="sum")

# %% needs_trainable_weights
# misconception: takes it for granted that something requires a gradient | hint: cam_no_graph
# breaks: The model may be frozen
# edits: gradient_asked_for_later
         kept["output"] = output
+        return output.clone()
@@
-    x = x.detach().clone().requires_grad_()

# %% no_grad_around_it
# misconception: runs the model under no_grad | hint: cam_no_graph
# edits: log_softmax
-        output = F.log_softmax(model(inputs), dim=1)
+        with torch.no_grad():
+            output = model(inputs)

# %% no_mean
# misconception: gradient times output at each position | hint: cam_no_mean
# edits: largest_gradient
-    weights = caught["gradient"].amax((2, 3), keepdim=True)
-    return (weights * caught["output"]).sum(1).relu()
+    return (caught["gradient"] * caught["output"]).sum(1).relu()

# %% no_relu
# misconception: leaves negative values in the map | hint: cam_no_relu
# edits: min_max
-    heat = (weights * caught["output"]).sum(1).relu()
-    return (heat - heat.min()) / (heat.max() - heat.min())
+    return (weights * caught["output"]).sum(1)

# %% no_sum
# misconception: one map a channel | hint: cam_no_sum
# edits: no_relu
-    return (weights * caught["output"]).sum(1)
+    return (weights * caught["output"]).relu()

# %% one_backward_per_picture
# misconception: several backward passes through one graph | hint: cam_graph_gone
def grad_cam(model, layer, x, targets):
    kept = {}

    def keep(module, args, output):
        kept["output"] = output
        return output.clone()

    with model.get_submodule(layer).register_forward_hook(keep):
        scores = model(x)
    maps = []
    for number, target in enumerate(targets):
        (gradient,) = torch.autograd.grad(scores[number, target], kept["output"])
        maps.append((gradient[number].mean((1, 2), keepdim=True) * kept["output"][number]).sum(0).relu())
    return torch.stack(maps).detach()

# %% output_only
# misconception: a map of the output alone | hint: cam_one_factor
def grad_cam(model, layer, x, targets):
    kept = {}

    def hook(module, args, output):
        kept["activation"] = output.detach().clone()

    with model.get_submodule(layer).register_forward_hook(hook), torch.no_grad():
        model(x)
    return kept["activation"].mean(1).relu()

# %% reads_before_backward
# misconception: reads the gradient before the backward pass | hint: cam_never_caught
# edits: largest_gradient
-        torch.autograd.grad(scores.sum(), x)
-    weights = caught["gradient"].amax((2, 3), keepdim=True)
+    weights = caught["gradient"].mean((2, 3), keepdim=True)
+    torch.autograd.grad(scores.sum(), x)

# %% relu_on_each_channel
# misconception: drops negative summands | hint: cam_relu_too_early
# edits: absolute_value
-    cam = (weights * acts).sum(dim=1)
-    return cam.abs()
+    cam = F.relu(weights * acts).sum(dim=1)
+    return cam

# %% relu_on_gradients
# misconception: averages only the positive gradients | hint: cam_relu_too_early
# edits: largest_gradient
-    weights = caught["gradient"].amax((2, 3), keepdim=True)
+    weights = caught["gradient"].relu().mean((2, 3), keepdim=True)

# %% relu_on_weights
# misconception: drops channels with negative weights | hint: cam_relu_too_early
# edits: largest_gradient
-    weights = caught["gradient"].amax((2, 3), keepdim=True)
+    weights = caught["gradient"].mean((2, 3), keepdim=True).relu()

# %% relu_on_weights_only
# misconception: drops channels with negative weights, and nothing at the end | hint: cam_relu_too_early
# edits: gradient_only
-    return grads.abs().mean(dim=1)
+    weights = F.relu(grads.mean(dim=(2, 3), keepdim=True))
+    cam = (weights * acts).sum(dim=1)
+    return cam

# %% resized
# misconception: brings the map to the size of the picture | hint: cam_resized
# edits: absolute_value
-    return cam.abs()
+    cam = F.relu(cam).unsqueeze(1)
+    return F.interpolate(cam, size=x.shape[2:], mode="bilinear", align_corners=False).squeeze(1)

# %% retain_grad
# misconception: retain_grad follows the tensor to its new value | hint: cam_overwritten
def grad_cam(model, layer, x, targets):
    kept = {}

    def keep(module, args, output):
        output.retain_grad()
        kept["output"], kept["values"] = output, output.detach().clone()

    x = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(keep):
        scores = model(x)
    scores.gather(1, targets[:, None]).sum().backward(inputs=[kept["output"]])
    weights = kept["output"].grad.mean((2, 3), keepdim=True)
    return (weights * kept["values"]).sum(1).relu()

# %% row_of_the_first
# misconception: the first picture's scores for all classes | hint: cam_one_class_for_all
# edits: all_scores
-        scores = model(x)
+        scores = model(x)[0, targets]

# %% saliency
# misconception: the gradient with respect to the picture | hint: cam_saliency
def grad_cam(model, layer, x, targets):
    x = x.detach().clone().requires_grad_()
    scores = model(x).gather(1, targets[:, None])
    (gradient,) = torch.autograd.grad(scores.sum(), x)
    return gradient.abs().amax(1)

# %% scaled_to_one
# misconception: divides by the largest value of each picture | hint: cam_scaled
# breaks: not scaled in any way
# edits: absolute_value
-    return cam.abs()
+    cam = F.relu(cam)
+    return cam / (cam.amax(dim=(1, 2), keepdim=True) + 1e-8)

# %% softmax
# misconception: the gradient of the probability | hint: cam_softmax
# edits: all_scores
-        scores = model(x)
+        scores = model(x).softmax(1).gather(1, targets[:, None])

# %% squeezes
# misconception: squeeze() without a dimension | hint: cam_squeeze
# edits: keeps_the_dimension
-    cam = (weights * acts).sum(dim=1, keepdim=True)
+    cam = (weights * acts).sum(dim=1, keepdim=True).squeeze()

# %% sum_of_gradients
# misconception: the sum of the gradient instead of its mean | hint: cam_sum_or_mean
# edits: largest_gradient
-    weights = caught["gradient"].amax((2, 3), keepdim=True)
+    weights = caught["gradient"].sum((2, 3), keepdim=True)

# %% swallows_the_error
# misconception: returns None after an error | hint: gfd_swallows_error
# breaks: which comes out of the call
# edits: backward_fills_grad
-        score.backward()
+        torch.autograd.grad(score, inputs)
+    except RuntimeError:
+        return None

# %% tutorial_for_one_picture
# misconception: the well-known tutorial code, which is made for one picture | hint: cam_batch_mixed
# edits: no_mean
-    return (caught["gradient"] * caught["output"]).sum(1).relu()
+    pooled_gradients = torch.mean(caught["gradient"], dim=[0, 2, 3])
+    activations = caught["output"]
+    for i in range(activations.size(1)):
+        activations[:, i, :, :] *= pooled_gradients[i]
+    return torch.sum(activations, dim=1).relu()

# %% tutorial_heatmap_mean
# misconception: the well-known tutorial code with a mean over the channels | hint: cam_sum_or_mean
# edits: keeps_the_dimension
-    cam = (weights * acts).sum(dim=1, keepdim=True)
+    cam = torch.mean(weights * acts, dim=1)

# %% unfreezes_the_input_and_backs
# misconception: backward into the caller's pictures | hint: cam_fills_grad
# edits: backward_of_a_vector
-    x = x.detach().clone().requires_grad_()
+    x.requires_grad_()
@@
-        torch.autograd.grad(scores, x)
+        scores.sum().backward(inputs=[x])

# %% weights_without_positions
# misconception: multiplies (N, K) by (N, K, h, w) | hint: cam_shape
# edits: largest_gradient
-    weights = caught["gradient"].amax((2, 3), keepdim=True)
+    weights = caught["gradient"].mean((2, 3))

# %% zero_grad_afterwards
# misconception: backward(), and zero_grad() to hide the traces | hint: cam_fills_grad
# edits: backward_fills_grad
         score.backward()
+        model.zero_grad()

# %% zero_grad_and_backward
# misconception: zero_grad() and backward(), as in every tutorial | hint: cam_fills_grad
# edits: backward_fills_grad
         score = output[torch.arange(x.size(0)), targets].sum()
+        model.zero_grad()

# %% leaves_it_unfrozen
# misconception: lets all parameters require a gradient, and leaves them so | hint: cam_unfreezes
# breaks: every `requires_grad` is as it was
def grad_cam(model, layer, x, targets):
    caught = {}

    def catch(module, args, output):
        caught["output"] = output.detach().clone()
        output.register_hook(lambda gradient: caught.update(gradient=gradient))

    model.requires_grad_(True)
    with model.get_submodule(layer).register_forward_hook(catch):
        scores = model(x.detach().clone().requires_grad_())
    torch.autograd.grad(scores.gather(1, targets[:, None]).sum(), list(model.parameters()))
    return (caught["gradient"].mean((2, 3), keepdim=True) * caught["output"]).sum(1).relu()

# %% leaves_it_frozen
# misconception: freezes the model while it looks, and leaves it frozen | hint: cam_unfreezes
def grad_cam(model, layer, x, targets):
    caught = {}

    def catch(module, args, output):
        caught["output"] = output.detach().clone()
        output.register_hook(lambda gradient: caught.update(gradient=gradient))

    model.requires_grad_(False)  # so that backward() fills no .grad
    images = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(catch):
        scores = model(images)
    scores.gather(1, targets[:, None]).sum().backward()
    return (caught["gradient"].mean((2, 3), keepdim=True) * caught["output"]).sum(1).relu()

# %% first_match_of_name
# misconception: takes the first module whose name ends in the same way | hint: cam_namesake
def grad_cam(model, layer, x, targets):
    caught = {}
    def catch(module, args, output):
        caught["output"] = output.detach().clone()
        output.register_hook(lambda gradient: caught.update(gradient=gradient))

    handle = next(m for n, m in model.named_modules() if n.endswith(layer.split(".")[-1])).register_forward_hook(catch)
    try:
        x = x.detach().clone().requires_grad_()
        scores = model(x)
        torch.autograd.grad(scores.gather(1, targets[:, None]).sum(), x)
    finally:
        handle.remove()
    return (caught["gradient"].mean((2, 3), keepdim=True) * caught["output"]).sum(1).relu()

# %% x_flag_off
# misconception: switches requires_grad of x off in the end, whatever it was | hint: cam_changes_x
# breaks: Every `.grad` and every `requires_grad` is as it was
def grad_cam(model, layer, x, targets):
    kept = []

    def keep(module, args, output):
        if not output.requires_grad:
            output = output.detach().requires_grad_(True)
        kept.append(output)
        return output.clone()

    handle = model.get_submodule(layer).register_forward_hook(keep)
    x.requires_grad_(True)
    try:
        scores = model(x)
    finally:
        handle.remove()
        x.requires_grad_(False)
    a = kept[-1]
    score = scores.gather(1, targets[:, None]).sum()
    (g,) = torch.autograd.grad(score, a)
    weights = g.mean((2, 3), keepdim=True)
    return (weights * a).sum(1).relu().detach()

# %% x_grad_filled
# misconception: puts back `.grad` of the parameters, and not that of x | hint: cam_fills_grad
# breaks: Every `.grad` and every `requires_grad` is as it was, that of `x` as well
# edits: x_flag_off
-    x.requires_grad_(True)
@@
-        x.requires_grad_(False)
@@
-    (g,) = torch.autograd.grad(score, a)
+    a.retain_grad()
+    before = [p.grad if p.grad is None else p.grad.clone() for p in model.parameters()]
+    score.backward()
+    for p, old in zip(model.parameters(), before):
+        p.grad = old
+    g = a.grad

# %% x_flag_after_error
# misconception: puts requires_grad of x back, but not after an error | hint: cam_changes_x
# breaks: All of this also after an error
# edits: x_grad_filled
     kept = []
+    old = x.requires_grad
+    x.requires_grad_(True)
@@
-    a.retain_grad()
-    before = [p.grad if p.grad is None else p.grad.clone() for p in model.parameters()]
-    score.backward()
-    for p, old in zip(model.parameters(), before):
-        p.grad = old
-    g = a.grad
+    (g,) = torch.autograd.grad(score, a)
+    x.requires_grad_(old)

# %% output_as_attribute
# misconception: keeps the output on the layer | hint: cam_attribute
# breaks: no attribute of yours stays on the model
# edits: x_flag_off
         kept.append(output)
+        module.kept = output
@@
-    x.requires_grad_(True)
@@
-        x.requires_grad_(False)

# %% only_frozen_as_a_whole
# misconception: helps only a model of which nothing at all requires a gradient | hint: cam_no_graph
# breaks: The model may be frozen in part
def grad_cam(model, layer, x, targets):
    seen = {}

    def look(module, args, output):
        seen["A"] = output.detach().clone()
        output.register_hook(lambda grad: seen.update(G=grad))

    if not any(p.requires_grad for p in model.parameters()):
        x = x.detach().clone().requires_grad_()
    handle = model.get_submodule(layer).register_forward_hook(look)
    try:
        score = model(x).gather(1, targets[:, None]).sum()
        wanted = [t for t in (x, *model.parameters()) if t.requires_grad]
        torch.autograd.grad(score, wanted, allow_unused=True)
    finally:
        handle.remove()
    return (seen["G"].mean((2, 3), keepdim=True) * seen["A"]).sum(1).relu()

# %% each_layer_that_is_named_so
# misconception: hooks each layer in whose name the layer's name stands | hint: cam_namesake
# breaks: `layer` is the dotted name of a layer
def grad_cam(model, layer, x, targets):
    kept = []

    def keep(module, args, output):
        output = output if output.requires_grad else output.detach().requires_grad_()
        kept.append(output)
        return output.clone()

    handles = [m.register_forward_hook(keep) for name, m in model.named_modules() if layer in name]
    try:
        scores = model(x)
    finally:
        for handle in handles:
            handle.remove()
    (G,) = torch.autograd.grad(scores[range(len(x)), targets].sum(), kept[0])
    return torch.einsum("nk,nkhw->nhw", G.mean((2, 3)), kept[0].detach()).relu()

# %% last_name_that_ends_so
# misconception: takes the last layer whose name ends like the layer's | hint: cam_namesake
# breaks: `layer` is the dotted name of a layer
def grad_cam(model, layer, x, targets):
    kept = []

    def keep(module, args, output):
        if not output.requires_grad:
            output = output.detach().requires_grad_()
        kept.append(output)
        return output.clone()

    handle = [m for name, m in model.named_modules() if name.endswith(layer)][-1].register_forward_hook(keep)
    try:
        scores = model(x)
    finally:
        handle.remove()
    A = kept[-1]
    score = scores.gather(1, targets[:, None]).sum()
    (G,) = torch.autograd.grad(score, A)
    weights = G.mean((2, 3), keepdim=True)
    return (weights * A.detach()).sum(1).relu()

# %% pops_the_newest_hook
# misconception: removes the newest hook of the layer, which is somebody else's | hint: removes_other_hooks
# breaks: the hooks of others are still there
# edits: last_name_that_ends_so
-    handle = [m for name, m in model.named_modules() if name.endswith(layer)][-1].register_forward_hook(keep)
+    place = model.get_submodule(layer)
+    place.register_forward_hook(keep)
@@
-        handle.remove()
+        place._forward_hooks.popitem()

# %% children_one_after_the_other
# misconception: runs the children in a row in place of the model's forward | hint: children_in_a_row
# breaks: `layer` is the dotted name of a layer
def grad_cam(model, layer, x, targets):
    gradients = []
    features = None
    for name, module in model.named_children():
        if isinstance(module, nn.Linear):
            x = x.mean((2, 3)) if x.dim() == 4 else x
        x = module(x)
        if name == layer:
            features = x.clone()
            x.register_hook(gradients.append)
    score = x.gather(1, targets[:, None]).sum()
    torch.autograd.grad(score, [p for p in model.parameters() if p.requires_grad], allow_unused=True)
    weights = gradients[0].mean((2, 3), keepdim=True)
    return (weights * features).sum(1).relu().detach()
