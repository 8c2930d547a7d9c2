def grad_cam(model, layer, x, targets):
    """Plain backward(); what it leaves in `.grad` is put back afterwards."""
    before = [(p, p.grad, p.requires_grad) for p in model.parameters()]
    activations, gradients = [], []

    def forward_hook(module, args, output):
        activations.append(output.detach().clone())
        output.register_hook(gradients.append)

    hook = model.get_submodule(layer).register_forward_hook(forward_hook)
    try:
        for p, _, _ in before:
            p.requires_grad_(True)
            p.grad = None
        output = model(x.detach())
        output[range(len(targets)), targets].sum().backward()
    finally:
        hook.remove()
        for p, grad, required in before:
            p.requires_grad_(required)
            p.grad = grad
    pooled = torch.nn.functional.adaptive_avg_pool2d(gradients[0], 1)
    return torch.relu((pooled * activations[0]).sum(dim=1))
