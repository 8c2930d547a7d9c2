# misconception: takes modules with parameters for leaves | hint: anatomy_leaves_with_parameters
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for m in model.modules() if list(m.parameters(recurse=False))),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
