# misconception: one entry a layer | hint: feat_once_each
def count_macs(model, x):
    counts, handles = {}, []

    def count(name, module, args, output):
        counts[name] = output.numel() * module.weight[0].numel()

    try:
        for name, module in model.named_modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                handles.append(module.register_forward_hook(partial(count, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return sum(counts.values())


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
