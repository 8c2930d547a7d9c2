# misconception: counts BatchNorm as well | hint: feat_other_layers
def count_macs(model, x):
    counts, handles = [], []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    try:
        for module in model.modules():
            if hasattr(module, "weight"):
                handles.append(module.register_forward_hook(count))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return sum(counts)


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
