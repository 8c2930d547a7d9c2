# misconception: drops the last name instead of the first | hint: counts_root
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [n for n, _ in model.named_modules()][:-1],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
