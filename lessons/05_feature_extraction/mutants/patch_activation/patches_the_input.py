# misconception: patches what goes into the layer | hint: feat_patches_input
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []

    def patch(m, args):
        if channels is None:
            return kept[0]
        patched = args[0].clone()
        patched[:, channels] = kept[0][:, channels]
        return patched

    with module.register_forward_pre_hook(lambda m, args: kept.append(args[0].detach().clone())):
        model(clean)
    with module.register_forward_pre_hook(patch):
        return model(corrupted)


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")
