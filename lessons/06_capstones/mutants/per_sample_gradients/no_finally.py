# misconception: a generator whose clean-up is skipped by an error | hint: tool_not_after_error
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
