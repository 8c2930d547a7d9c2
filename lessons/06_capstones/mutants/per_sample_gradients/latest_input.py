# misconception: an attribute that holds the input of the latest call only | hint: per_sample_wrong_pairs
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.layers = {name: m for name, m in model.named_modules() if isinstance(m, nn.Linear)}
        self.reduction = reduction
        self.gradients = {}
        self.activations = {}

    def __enter__(self):
        self.handles = []
        for name, layer in self.layers.items():
            self.handles += [
                layer.register_forward_hook(partial(self.save_input, name)),
                layer.register_full_backward_hook(partial(self.save_gradient, name)),
            ]
        return self

    def save_input(self, name, layer, args, output):
        self.activations[name] = args[0].detach()

    def save_gradient(self, name, layer, grad_input, grad_output):
        x, grad = self.activations[name], grad_output[0]
        if self.reduction == "mean":
            grad = grad * x.shape[0]
        self.add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
        if layer.bias is not None:
            self.add(f"{name}.bias", grad)

    def add(self, key, value):
        self.gradients[key] = self.gradients.get(key, 0) + value

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
