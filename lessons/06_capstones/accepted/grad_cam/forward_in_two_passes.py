def grad_cam(model, layer, x, targets):
    """Looks first; then runs the model again with the layer's output replaced by a leaf of its own."""
    module = model.get_submodule(layer)
    with torch.no_grad():
        with module.register_forward_hook(lambda m, args, output: leaves.append(output.clone())):
            leaves = []
            model(x)
    leaf = leaves[0].requires_grad_()
    with module.register_forward_hook(lambda m, args, output: leaf * 1):
        scores = model(x)
    score = sum(scores[n, c] for n, c in enumerate(targets.tolist()))
    (gradient,) = torch.autograd.grad(score, [leaf])
    weights = gradient.sum((-2, -1)) / gradient[0, 0].numel()
    return sum(weights[:, k, None, None] * leaf[:, k] for k in range(leaf.shape[1])).relu()
