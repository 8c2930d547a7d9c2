def safe_features(model: nn.Module, layers: list[str], x: torch.Tensor) -> dict[str, torch.Tensor]:
    kept: dict[str, torch.Tensor] = {}
    handles = []
    try:
        for name, module in model.named_modules():

            def hook(module, args, output, name=name):
                if name in layers:
                    kept[name] = torch.empty_like(output, requires_grad=False).copy_(output.detach())

            handles.append(module.register_forward_hook(hook, prepend=True))
        _ = model(x)
    finally:
        for handle in handles:
            handle.remove()
    return kept


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
