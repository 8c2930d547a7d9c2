# misconception: computes the output's size, without dilation | hint: feat_input_size
def count_macs(model, x):
    counts, handles = [], []

    def count(module, args, output):
        if isinstance(module, nn.Linear):
            counts.append(output.numel() * module.in_features)
            return
        batch, _, *size = args[0].shape
        height, width = (
            (n + 2 * padding - kernel) // stride + 1
            for n, padding, kernel, stride in zip(size, module.padding, module.kernel_size, module.stride)
        )
        counts.append(batch * height * width * module.weight.numel())

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
