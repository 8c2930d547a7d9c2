# misconception: counts the numbers of the outputs | hint: feat_outputs_only_counted
def count_macs(model, x):
    counts, handles = [], []

    def count(module, args, output):
        counts.append(output.numel())

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
