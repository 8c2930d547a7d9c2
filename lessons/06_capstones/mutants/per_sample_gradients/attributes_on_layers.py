# misconception: leaves what it has seen on the layers | hint: tool_attributes_left
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handles = []
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                layer.activations = []
                layer.per_sample_name = name
                self.handles.append(layer.register_forward_hook(self.save_activation))
                self.handles.append(layer.register_full_backward_hook(self.save_gradient))
        return self

    def save_activation(self, layer, args, output):
        layer.activations.append(args[0].detach())

    def save_gradient(self, layer, grad_input, grad_output):
        x, g = layer.activations.pop(), grad_output[0]
        if self.reduction == "mean":
            g = g * len(x)
        name = layer.per_sample_name
        self.gradients[name + ".weight"] = self.gradients.get(name + ".weight", 0) + torch.einsum("ni,nj->nij", g, x)
        if layer.bias is not None:
            self.gradients[name + ".bias"] = self.gradients.get(name + ".bias", 0) + g

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
