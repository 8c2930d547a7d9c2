# misconception: two levels only | hint: children_for_modules
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [n for n, _ in model.named_children()]
        + [f"{n}.{k}" for n, m in model.named_children() for k, _ in m.named_children()],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
