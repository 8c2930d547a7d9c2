# misconception: writes into the layer's output | hint: feat_writes_into_input
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []

    def patch(m, a, output):
        if channels is None:
            output.copy_(kept[0])
        else:
            output[:, channels] = kept[0][:, channels]

    with torch.no_grad():
        with module.register_forward_hook(lambda m, a, o: kept.append(o.clone())):
            model(clean)
        with module.register_forward_hook(patch):
            return model(corrupted)


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")
