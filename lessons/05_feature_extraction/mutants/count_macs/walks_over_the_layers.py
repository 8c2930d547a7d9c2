# misconception: computes sizes by hand, layer after layer | hint: feat_unused
def count_macs(model, x):
    sizes, handles = {}, []

    def note(module, args, output):
        sizes[module] = sizes.get(module, 0) + output.numel()

    try:
        for module in model.modules():
            handles.append(module.register_forward_hook(note))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    total = 0
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            total += sizes.get(module, x.shape[0] * module.weight.shape[0]) * module.weight[0].numel()
    return total


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
