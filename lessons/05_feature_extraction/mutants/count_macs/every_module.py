# misconception: looks for a weight in every module | hint: feat_every_module
def count_macs(model, x):
    counts, handles = [], []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    try:
        for module in model.modules():
            handles.append(module.register_forward_hook(count))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return sum(counts)


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
