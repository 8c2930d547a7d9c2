# misconception: walks level by level | hint: anatomy_another_order
def inventory(model: nn.Module) -> dict[str, object]:
    names, level = [], [("", model)]
    while level:
        level = [(f"{p}.{k}" if p else k, c) for p, m in level for k, c in m.named_children()]
        names += [n for n, _ in level]
    return {
        "children": [n for n, _ in model.named_children()],
        "modules": names,
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
