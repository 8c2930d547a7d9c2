# misconception: reads _buffers, where None may stand | hint: absent_is_none
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [f"{n}.{k}".lstrip(".") for n, m in model.named_modules() for k in m._buffers],
    }
