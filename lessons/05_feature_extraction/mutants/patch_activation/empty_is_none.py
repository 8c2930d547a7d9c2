# misconception: takes an empty list for None | hint: feat_none_or_empty
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []

    def patch(m, a, output):
        if not channels:
            return kept[0]
        patched = output.clone()
        patched[:, channels] = kept[0][:, channels]
        return patched

    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):
        model(clean)
    with module.register_forward_hook(patch):
        return model(corrupted)


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")
