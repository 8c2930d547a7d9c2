# misconception: forgets the output's channels | hint: feat_one_output_channel
def count_macs(model, x):
    counts, handles = [], []

    def count(module, args, output):
        if isinstance(module, nn.Conv2d):
            batch, _, height, width = output.shape
            counts.append(batch * height * width * module.weight[0].numel())
        else:
            counts.append(output.shape[0] * module.in_features)

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
