# misconception: lists a shared parameter at both places | hint: counts_twice
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {n: tuple(p.shape) for n, p in model.named_parameters(remove_duplicate=False)},
        "buffers": [name for name, _ in model.named_buffers()],
    }
