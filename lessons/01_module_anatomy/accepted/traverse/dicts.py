def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": list(dict(model.named_children())),
        "modules": list(dict(model.named_modules()))[1:],
        "leaves": len([m for m in list(model.modules())[1:] if len(m._modules) == 0 or not any(True for _ in m.children())]),
        "parameters": {k: v.shape for k, v in model.named_parameters()},
        "buffers": list(dict(model.named_buffers())),
    }
