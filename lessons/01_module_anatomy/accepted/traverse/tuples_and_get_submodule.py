def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": tuple(name for name, _ in model.named_modules() if name != ""),
        "leaves": len([n for n, _ in model.named_modules() if n and next(model.get_submodule(n).children(), None) is None]),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": tuple(name for name, _ in model.named_buffers()),
    }
