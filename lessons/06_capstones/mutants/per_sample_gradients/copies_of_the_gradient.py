# misconception: repeats the batch's gradient for each sample | hint: per_sample_copies
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.gradients = {}

    def __enter__(self):
        def count(module, args, output):
            self.N = len(args[0])

        self.handle = self.model.register_forward_hook(count)
        return self

    def __exit__(self, *error):
        self.handle.remove()
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                for short, p in layer.named_parameters():
                    if p.grad is not None:
                        self.gradients[f"{name}.{short}"] = p.grad.expand(self.N, *p.shape).clone()
