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
