# misconception: lists the leaves | hint: anatomy_list_for_number
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": [name for name, module in model.named_modules() if name and not list(module.children())],
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
