# misconception: takes a dot in the name for a leaf | hint: anatomy_leaves_by_name
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": len([n for n, _ in model.named_modules() if "." in n]),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
