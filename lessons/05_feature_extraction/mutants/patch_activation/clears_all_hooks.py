# misconception: empties the layer's dict of hooks | hint: removes_other_hooks
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []

    def patch(m, a, output):
        if channels is None:
            return kept[0]
        patched = output.clone()
        patched[:, channels] = kept[0][:, channels]
        return patched

    module.register_forward_hook(lambda m, a, o: kept.append(o.detach().clone()))
    model(clean)
    module._forward_hooks.clear()
    module.register_forward_hook(patch)
    answer = model(corrupted)
    module._forward_hooks.clear()
    return answer


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")
