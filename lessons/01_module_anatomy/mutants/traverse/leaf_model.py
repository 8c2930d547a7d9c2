# misconception: counts the model itself where it has no children | hint: counts_root
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for module in model.modules() if not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
