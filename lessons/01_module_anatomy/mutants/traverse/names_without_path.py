# misconception: names without the path | hint: name_without_path
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {key: tuple(p.shape) for m in model.modules() for key, p in m.named_parameters(recurse=False)},
        "buffers": [name for name, _ in model.named_buffers()],
    }
