# misconception: reads _parameters, where None may stand | hint: absent_is_none
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {f"{n}.{k}".lstrip("."): tuple(p.shape) for n, m in model.named_modules() for k, p in m._parameters.items()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
