# %% forward_in_two_passes
def grad_cam(model, layer, x, targets):
    """Looks first; then runs the model again with the layer's output replaced by a leaf of its own."""
    assert not model.training
    module = model.get_submodule(layer)
    with torch.no_grad():
        with module.register_forward_hook(lambda m, args, output: leaves.append(output.clone())):
            leaves = []
            model(x.clone())
    leaf = leaves[0].requires_grad_()
    with module.register_forward_hook(lambda m, args, output: leaf * 1):
        scores = model(x)
    score = sum(scores[n, c] for n, c in enumerate(targets.tolist()))
    (gradient,) = torch.autograd.grad(score, [leaf])
    weights = gradient.sum((-2, -1)) / gradient[0, 0].numel()
    return sum(weights[:, k, None, None] * leaf[:, k] for k in range(leaf.shape[1])).relu()

# %% gradients_put_back
def grad_cam(model, layer, x, targets):
    """Plain backward(); what it leaves in `.grad`, and each mode, is put back afterwards."""
    before = [(p, p.grad, p.requires_grad) for p in model.parameters()]
    modes = [(part, part.training) for part in model.modules()]
    activations, gradients = [], []

    def forward_hook(module, args, output):
        activations.append(output.detach().clone())
        output.register_hook(gradients.append)

    hook = model.get_submodule(layer).register_forward_hook(forward_hook)
    try:
        model.eval()
        for p, _, _ in before:
            p.requires_grad_(True)
            p.grad = None
        output = model(x.detach().requires_grad_() * 1)
        output[range(len(targets)), targets].sum().backward()
    finally:
        hook.remove()
        for p, grad, required in before:
            p.requires_grad_(required)
            p.grad = grad
        for part, mode in modes:
            part.training = mode
    pooled = torch.nn.functional.adaptive_avg_pool2d(gradients[0], 1)
    return torch.relu((pooled * activations[0]).sum(dim=1))

# %% hook_on_the_operation
def grad_cam(model, layer, x, targets):
    if model.training:
        raise RuntimeError("call model.eval() first")
    caught = []

    def hook(module, args, kwargs, output):
        caught.append(output.data.clone())
        output.grad_fn.register_prehook(lambda grads: caught.append(grads[0]))

    handle = model.get_submodule(layer).register_forward_hook(hook, with_kwargs=True)
    try:
        inputs = x.data.clone().requires_grad_()
        loss = model(inputs.clone())[torch.arange(x.shape[0]), targets]
        torch.autograd.grad(loss, inputs, torch.ones_like(loss))
    finally:
        handle.remove()
    A, G = caught
    return torch.maximum((G.mean((2, 3))[:, :, None, None] * A).sum(1), torch.tensor(0.0))

# %% layer_hands_on_a_clone
def grad_cam(model, layer, x, targets):
    """The hook keeps the output itself and hands a clone on, so nothing overwrites what was kept."""
    kept, modes = [], {part: part.training for part in model.modules()}

    def hook(module, args, output):
        if not output.requires_grad:
            output.requires_grad_(True)
        kept.append(output)
        return output.clone()

    handle = model.get_submodule(layer).register_forward_hook(hook)
    try:
        scores = model.eval()(x)
    finally:
        handle.remove()
        for part in modes:
            part.training = modes[part]
    (A,) = kept
    picked = scores[torch.arange(len(x)), targets]
    (G,) = torch.autograd.grad(picked.sum(), A)
    alpha = G.mean(dim=(2, 3))
    return F.relu(torch.einsum("nk,nkhw->nhw", alpha, A)).detach()

# %% one_picture_at_a_time
def grad_cam(model, layer, x, targets):
    if any(one.training for one in model.modules()):
        raise ValueError("grad_cam is for models in eval mode")
    module = dict(model.named_modules())[layer]
    maps = []
    for picture, target in zip(x, targets.tolist()):
        seen = {}

        def remember(module, args, output, seen=seen):
            seen["A"] = output.detach().clone()
            output.register_hook(lambda grad: seen.update(G=grad.clone()))

        handle = module.register_forward_hook(remember)
        try:
            single = picture.unsqueeze(0).detach().requires_grad_(True)
            score = model(single.clone())[0, target]
            score.backward(inputs=[single])
        finally:
            handle.remove()
        heat = torch.zeros_like(seen["A"][0, 0])
        for channel, slope in zip(seen["A"][0], seen["G"][0]):
            heat += slope.mean() * channel
        maps.append(heat.clamp(min=0))
    return torch.stack(maps)

# %% error_in_its_own_words
def grad_cam(model, layer, x, targets):
    """Whatever goes wrong in the model is told in other words, and of another class."""
    kept = []
    if model.training:
        raise NotImplementedError("only in eval mode")

    def keep(module, args, output):
        kept.append(output.detach().clone().requires_grad_())
        return kept[0].clone()

    handle = model.get_submodule(layer).register_forward_hook(keep)
    try:
        scores = model(x)
    except RuntimeError as error:
        raise ValueError(f"the model does not run on pictures of shape {tuple(x.shape)}") from error
    finally:
        handle.remove()
    chosen = scores[torch.arange(len(targets)), targets]
    (slopes,) = torch.autograd.grad(chosen, kept[0], torch.ones_like(chosen))
    return torch.einsum("nk,nkhw->nhw", slopes.mean((2, 3)), kept[0].detach()).clamp(min=0)
