# misconception: keeps the first clean output for good | hint: stale_result
kept = {}


def patch_activation(model, layer, clean, corrupted, channels=None):
    module = model.get_submodule(layer)

    def patch(m, a, output):
        if channels is None:
            return kept[m]
        patched = output.clone()
        patched[:, channels] = kept[m][:, channels]
        return patched

    if module not in kept:
        with module.register_forward_hook(lambda m, a, o: kept.update({m: o.detach().clone()})):
            model(clean)
    with module.register_forward_hook(patch):
        return model(corrupted)


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")
