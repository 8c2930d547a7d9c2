from types import SimpleNamespace


@contextmanager
def PerSampleGradients(model, reduction="mean"):
    result = SimpleNamespace(gradients={})
    handles = []

    def forward_hook(name, module, args, output):
        (x,) = args

        def tensor_hook(grad):
            scale = grad.size(0) if reduction == "mean" else 1
            grads = {f"{name}.weight": scale * grad[:, :, None] * x.detach()[:, None, :]}
            if module.bias is not None:
                grads[f"{name}.bias"] = scale * grad
            for key, value in grads.items():
                result.gradients[key] = result.gradients[key] + value if key in result.gradients else value

        output.register_hook(tensor_hook)

    try:
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear):
                handles.append(module.register_forward_hook(partial(forward_hook, name)))
        yield result
    finally:
        for handle in handles:
            handle.remove()
