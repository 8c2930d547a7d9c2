def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "buffers": [name for name, _ in model.named_buffers()],
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "modules": [name for name, _ in model.named_modules() if name],
        "children": [name for name, _ in model.named_children()],
    }
