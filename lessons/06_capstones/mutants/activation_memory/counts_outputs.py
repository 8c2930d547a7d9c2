# misconception: adds up the outputs of all layers with forward hooks | hint: memory_counts_outputs
class ActivationMemory:
    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.bytes = 0
        self.by_layer = {}

    def __enter__(self):
        self.handles = []
        for name, module in self.model.named_modules():
            if not list(module.children()):
                self.handles.append(module.register_forward_hook(partial(self.count, name)))
        return self

    def count(self, name, module, args, output):
        size = output.numel() * output.element_size()
        self.bytes += size
        self.by_layer[name] = self.by_layer.get(name, 0) + size

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
