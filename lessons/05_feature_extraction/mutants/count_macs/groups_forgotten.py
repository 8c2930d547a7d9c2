# misconception: forgets the groups | hint: feat_groups
def count_macs(model, x):
    counts, handles = [], []

    def count(module, args, output):
        if isinstance(module, nn.Conv2d):
            height, width = module.kernel_size
            counts.append(output.numel() * module.in_channels * height * width)
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
