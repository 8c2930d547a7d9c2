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
