# misconception: returns the answer to the clean input | hint: feat_returns_clean
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []
    with module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone())):
        answer = model(clean)
    with module.register_forward_hook(lambda m, a, o: kept[0]):
        model(corrupted)
    return answer


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")
