# misconception: takes inputs of Linear for flat | hint: feat_tokens
def count_macs(model, x):
    counts, handles = [], []

    def count(module, args, output):
        if isinstance(module, nn.Conv2d):
            counts.append(output.numel() * module.weight[0].numel())
        else:
            counts.append(args[0].shape[0] * module.in_features * module.out_features)

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
