
# %% alias
# misconception: keeps the output without a copy | hint: cam_overwritten
# breaks: `A` is what the layer returned
def grad_cam(model, layer, x, targets):
    assert not model.training
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

# %% backward_of_a_vector
# misconception: backward of one score for each picture | hint: cam_one_number
# edits: all_scores
-        scores = model(x)
-        torch.autograd.grad(scores.sum(), x)
+        scores = model(x).gather(1, targets[:, None])
+        torch.autograd.grad(scores, x)

# %% detached_leaf
# misconception: asks for the gradient of a detached copy | hint: cam_outside_the_graph
def grad_cam(model, layer, x, targets):
    assert not model.training
    kept = {}

    def keep(module, args, output):
        kept["output"] = output.detach().clone().requires_grad_()

    with model.get_submodule(layer).register_forward_hook(keep):
        scores = model(x)
    (gradient,) = torch.autograd.grad(scores[torch.arange(len(x)), targets].sum(), kept["output"])
    return (gradient.mean((2, 3), keepdim=True) * kept["output"]).sum(1).relu()

# %% full_backward_hook
# misconception: a full backward hook, which the in-place ReLU does not stand | hint: in_place_after_full_hook
def grad_cam(model, layer, x, targets):
    assert not model.training
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

# %% gradient_of_the_input
# misconception: the gradient with respect to the layer's input | hint: cam_input_side
def grad_cam(model, layer, x, targets):
    assert not model.training
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

# %% hook_stays
# misconception: never removes its hook | hint: gfd_leaves_hooks
# breaks: Afterwards your hooks are gone
# edits: all_scores
+    model.get_submodule(layer).register_forward_hook(catch)
     x = x.detach().clone().requires_grad_()
-    with model.get_submodule(layer).register_forward_hook(catch):
-        scores = model(x)
-        torch.autograd.grad(scores.sum(), x)
+    torch.autograd.grad(model(x).gather(1, targets[:, None]).sum(), x)

# %% hook_stays_after_an_error
# misconception: removes its hook only if all goes well | hint: feat_error_skips
# breaks: even after an error
def grad_cam(model, layer, x, targets):
    assert not model.training
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

# %% backward_fills_grad
# misconception: backward() adds to every .grad | hint: cam_fills_grad
# breaks: every `.grad`, `requires_grad` and mode is as it was
# edits: hook_stays_after_an_error
-    inputs = x.clone().detach().requires_grad_(True)
-    output = model(inputs)
-    score = output[torch.arange(x.size(0)), targets].sum()
-    torch.autograd.grad(score, inputs)
-    handle.remove()
+    try:
+        inputs = x.clone().detach().requires_grad_(True)
+        output = model(inputs)
+        score = output[torch.arange(x.size(0)), targets].sum()
+        score.backward()
+    finally:
+        handle.remove()

# %% class_of_the_first
# misconception: one class for the whole batch | hint: cam_one_class_for_all
# breaks: no other picture changes its map
# edits: backward_fills_grad
-        score = output[torch.arange(x.size(0)), targets].sum()
-        score.backward()
+        score = output[:, int(targets[0])].sum()
+        torch.autograd.grad(score, inputs)

# %% cross_entropy
# misconception: the gradient of the loss | hint: cam_softmax
# edits: class_of_the_first
-        score = output[:, int(targets[0])].sum()
+        score = F.cross_entropy(output, targets)

# %% highest_score
# misconception: the class that the model prefers | hint: cam_best_class
# edits: class_of_the_first
-        score = output[:, int(targets[0])].sum()
+        score = output.max(dim=1).values.sum()

# %% local_names
# misconception: assigns to local names inside the hook | hint: cam_never_caught
def grad_cam(model, layer, x, targets):
    assert not model.training
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

# %% mean_over_batch
# misconception: weights from the mean over batch and positions | hint: cam_batch_mixed
# edits: backward_of_a_vector
-        torch.autograd.grad(scores, x)
-    weights = caught["gradient"].mean((2, 3), keepdim=True)
+        torch.autograd.grad(scores.sum(), x)
+    weights = caught["gradient"].mean((0, 2, 3), keepdim=True)

# %% needs_trainable_weights
# misconception: takes it for granted that something requires a gradient | hint: cam_no_graph
# breaks: works on a frozen model
def grad_cam(model, layer, x, targets):
    assert not model.training
    kept = {}

    def keep(module, args, output):
        kept["output"] = output
        return output.clone()

    with model.get_submodule(layer).register_forward_hook(keep):
        scores = model(x)
    A = kept["output"]
    (G,) = torch.autograd.grad(scores.gather(1, targets[:, None]).sum(), A)
    return (G.mean((2, 3), keepdim=True) * A).sum(1).relu().detach()

# %% no_mean
# misconception: gradient times output at each position | hint: cam_no_mean
# edits: mean_over_batch
-    weights = caught["gradient"].mean((0, 2, 3), keepdim=True)
-    return (weights * caught["output"]).sum(1).relu()
+    return (caught["gradient"] * caught["output"]).sum(1).relu()

# %% no_relu
# misconception: leaves negative values in the map | hint: cam_no_relu
# edits: no_mean
-    return (caught["gradient"] * caught["output"]).sum(1).relu()
+    weights = caught["gradient"].mean((2, 3), keepdim=True)
+    return (weights * caught["output"]).sum(1)

# %% no_sum
# misconception: one map a channel | hint: cam_no_sum
# edits: no_relu
-    return (weights * caught["output"]).sum(1)
+    return (weights * caught["output"]).relu()

# %% relu_on_weights
# misconception: drops channels with negative weights | hint: cam_relu_too_early
# edits: mean_over_batch
-    weights = caught["gradient"].mean((0, 2, 3), keepdim=True)
+    weights = caught["gradient"].mean((2, 3), keepdim=True).relu()

# %% sum_of_gradients
# misconception: the sum of the gradient instead of its mean | hint: cam_sum_or_mean
# edits: mean_over_batch
-    weights = caught["gradient"].mean((0, 2, 3), keepdim=True)
+    weights = caught["gradient"].sum((2, 3), keepdim=True)

# %% leaves_it_unfrozen
# misconception: lets all parameters require a gradient, and leaves them so | hint: cam_unfreezes
# breaks: every `.grad`, `requires_grad` and mode is as it was
def grad_cam(model, layer, x, targets):
    assert not model.training
    caught = {}

    def catch(module, args, output):
        caught["output"] = output.detach().clone()
        output.register_hook(lambda gradient: caught.update(gradient=gradient))

    model.requires_grad_(True)
    with model.get_submodule(layer).register_forward_hook(catch):
        scores = model(x.detach().clone().requires_grad_())
    torch.autograd.grad(scores.gather(1, targets[:, None]).sum(), list(model.parameters()))
    return (caught["gradient"].mean((2, 3), keepdim=True) * caught["output"]).sum(1).relu()

# %% training_mode_ignored
# misconception: runs the model in whichever mode it is | hint: cam_training_mode
# breaks: in training mode it raises an error, or returns the maps of eval mode
# edits: reference
-    if any(module.training for module in model.modules()):
-        raise ValueError("grad_cam needs a model in evaluation mode: call model.eval() first")

# %% eval_mode_stays
# misconception: puts the model into evaluation mode, and leaves it there | hint: changes_mode
# edits: backward_fills_grad
-    assert not model.training
     activations, gradients = [], []
+    model.eval()
@@
-        score.backward()
+        torch.autograd.grad(score, inputs)

# %% absolute_value
# misconception: takes the absolute value at the end | hint: cam_abs | canary
# edits: eval_mode_stays
-    model.eval()
+    assert not model.training
@@
-    return F.relu(cam)
+    return cam.abs()

# %% changes_the_input
# misconception: makes the caller's pictures require a gradient | hint: cam_changes_x
# breaks: every `.grad`, `requires_grad` and mode is as it was
# edits: eval_mode_stays
-    model.eval()
+    assert not model.training
@@
-        inputs = x.clone().detach().requires_grad_(True)
+        inputs = x.requires_grad_(True)

# %% clears_hooks
# misconception: clears all hooks of the layer | hint: removes_other_hooks
# edits: eval_mode_stays
-    model.eval()
+    assert not model.training
@@
-        handle.remove()
+        module._forward_hooks.clear()

# %% first_picture
# misconception: the map of the first picture | hint: cam_first_picture_only
# edits: eval_mode_stays
-    model.eval()
+    assert not model.training
@@
-    acts, grads = activations[0], gradients[0]
+    acts, grads = activations[0][0:1], gradients[0][0:1]

# %% getattr_for_dotted_names
# misconception: getattr with a dotted name | hint: dotted_name
# breaks: `layer` is the dotted name
# edits: eval_mode_stays
-    model.eval()
+    assert not model.training
@@
-    module = dict(model.named_modules())[layer]
+    module = getattr(model, layer)

# %% scaled_to_one
# misconception: divides by the largest value of each picture | hint: cam_scaled
# breaks: not scaled
# edits: absolute_value
-    return cam.abs()
+    cam = F.relu(cam)
+    return cam / (cam.amax(dim=(1, 2), keepdim=True) + 1e-8)

# %% modes_of_parts_lost
# misconception: puts back the mode of the model, and so of all that is in it | hint: changes_mode
# breaks: every `.grad`, `requires_grad` and mode is as it was
# edits: eval_mode_stays
-    model.eval()
+    mode = model.training
+    model.eval()
@@
         handle.remove()
+        model.train(mode)
