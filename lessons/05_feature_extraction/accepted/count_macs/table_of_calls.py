def count_macs(model: nn.Module, x: torch.Tensor) -> int:
    table = []

    def note(name, module, args, kwargs, output):
        each = module.weight.flatten(1).shape[1]
        table.append((name, output.numel(), each))

    handles = []
    for name, module in model.named_modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            handles.append(module.register_forward_hook(partial(note, name), with_kwargs=True))
    try:
        model(x)
    finally:
        [h.remove() for h in handles]
    return sum(numbers * each for _, numbers, each in table)


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
