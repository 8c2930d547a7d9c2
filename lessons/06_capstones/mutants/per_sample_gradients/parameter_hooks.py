# misconception: hooks on the parameters: the batch is summed by then | hint: per_sample_summed
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.gradients = {}

    def __enter__(self):
        self.handles = []
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                for short, parameter in layer.named_parameters():
                    self.handles.append(parameter.register_hook(partial(self.gradients.__setitem__, f"{name}.{short}")))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
