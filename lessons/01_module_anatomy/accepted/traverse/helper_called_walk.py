def walk(module, path=""):
    for name, child in module.named_children():
        yield path + name, child
        yield from walk(child, f"{path}{name}.")


def inventory(model: nn.Module) -> dict[str, object]:
    first = {}
    for name, module in walk(model):
        first.setdefault(module, name)
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": list(first.values()),
        "leaves": sum(not list(module.children()) for module in first),
        "parameters": {name: tuple(parameter.shape) for name, parameter in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
