def inventory(model: nn.Module) -> dict[str, object]:
    names = [n for n, _ in model.named_modules() if n]
    leaves = [n for n in names if not any(o.startswith(n + ".") for o in names)]
    return {
        "children": [n for n, _ in model.named_children()],
        "modules": names,
        "leaves": len(leaves),
        "parameters": {n: tuple(p.shape) for n, p in model.named_parameters()},
        "buffers": [n for n, _ in model.named_buffers()],
    }
