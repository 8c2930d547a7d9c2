# misconception: takes every window for a square | hint: feat_square
def count_macs(model, x):
    counts, handles = [], []

    def count(module, args, output):
        if isinstance(module, nn.Conv2d):
            counts.append(output.numel() * module.in_channels // module.groups * module.kernel_size[0] ** 2)
        else:
            counts.append(output.numel() * module.in_features)

    try:
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                handles.append(module.register_forward_hook(count))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return sum(counts)


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
