# misconception: leaves the hooks there | hint: feat_hook_left
def count_macs(model, x):
    counts = []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            module.register_forward_hook(count)
    model(x)
    return sum(counts)


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
