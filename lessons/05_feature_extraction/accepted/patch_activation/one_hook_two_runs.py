def patch_activation(model, layer, clean, corrupted, channels=None):
    runs = []

    def hook(module, args, output):
        runs.append(output.clone())
        if len(runs) == 1:
            return None
        first, second = runs
        numbers = range(output.shape[1]) if channels is None else channels
        for number in numbers:
            second[:, number] = first[:, number]
        return second

    handle = dict(model.named_modules())[layer].register_forward_hook(hook)
    try:
        model(clean)
        return model(corrupted)
    finally:
        handle.remove()


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")
