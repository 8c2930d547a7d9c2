# misconception: a counter in the notebook that nobody sets back | hint: feat_goes_on
total = 0


def count_macs(model, x):
    global total
    handles = []

    def count(module, args, output):
        global total
        total += output.numel() * module.weight[0].numel()

    try:
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                handles.append(module.register_forward_hook(count))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return total


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
