# misconception: a reused layer keeps one call | hint: per_sample_one_call
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
            self.gradients[name] = gradient

        self.handles = []
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                self.handles.append(layer.register_forward_hook(partial(forward_hook, name)))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
