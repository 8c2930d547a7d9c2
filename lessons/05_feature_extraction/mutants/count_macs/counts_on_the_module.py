# misconception: counts on the modules, which keep it | hint: feat_goes_on
def count_macs(model, x):
    handles = []

    def count(module, args, output):
        module.macs = getattr(module, "macs", 0) + output.numel() * module.weight[0].numel()

    layers = [m for m in model.modules() if isinstance(m, (nn.Linear, nn.Conv2d))]
    try:
        for module in layers:
            handles.append(module.register_forward_hook(count))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return sum(getattr(module, "macs", 0) for module in layers)


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
