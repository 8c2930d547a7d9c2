# misconception: sorts the names | hint: anatomy_another_order
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": sorted(n for n, _ in model.named_children()),
        "modules": sorted(n for n, _ in model.named_modules() if n),
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
