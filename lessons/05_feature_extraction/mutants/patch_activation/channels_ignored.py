# misconception: patches the whole layer always | hint: feat_channels_ignored
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []
    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):
        model(clean)
    with module.register_forward_hook(lambda m, a, o: kept[0]):
        return model(corrupted)


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")
