class Patch:
    def __init__(self, module, value=None, channels=None):
        self.module, self.value, self.channels = module, value, channels

    def __enter__(self):
        self.handle = self.module.register_forward_hook(self)
        return self

    def __exit__(self, *error):
        self.handle.remove()

    def __call__(self, module, args, output):
        if self.value is None:
            self.value = output.detach().clone()
            return None
        if self.channels is None:
            return self.value
        return output.index_copy(1, torch.tensor(self.channels, dtype=torch.long), self.value[:, self.channels])


def patch_activation(model, layer, clean, corrupted, channels=None):
    module = model.get_submodule(layer)
    with Patch(module) as kept:
        model(clean)
    with Patch(module, kept.value, channels):
        return model(corrupted)


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")
