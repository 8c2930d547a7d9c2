# %% dicts
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": list(dict(model.named_children())),
        "modules": list(dict(model.named_modules()))[1:],
        "leaves": len([m for m in list(model.modules())[1:] if len(m._modules) == 0 or not any(True for _ in m.children())]),
        "parameters": {k: v.shape for k, v in model.named_parameters()},
        "buffers": list(dict(model.named_buffers())),
    }

# %% loops
def inventory(model: nn.Module) -> dict[str, object]:
    result = dict(children=[], modules=[], leaves=0, parameters={}, buffers=[])
    for name, child in model.named_children():
        result["children"].append(name)
    for name, module in model.named_modules():
        if module is model:
            continue
        result["modules"].append(name)
        if len(list(module.children())) == 0:
            result["leaves"] += 1
    for name, parameter in model.named_parameters():
        result["parameters"][name] = tuple(parameter.shape)
    for name, buffer in model.named_buffers():
        result["buffers"].append(name)
    return result

# %% names_filtered
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% own_recursion
def inventory(model: nn.Module) -> dict[str, object]:
    found = {"children": [], "modules": [], "leaves": 0, "parameters": {}, "buffers": []}
    seen, listed = set(), set()

    def visit(module, path):
        seen.add(module)
        for key, parameter in module.named_parameters(recurse=False):
            if parameter not in listed:
                listed.add(parameter)
                found["parameters"][".".join([*path, key])] = list(parameter.shape)
        for key, buffer in module.named_buffers(recurse=False):
            if buffer not in listed:
                listed.add(buffer)
                found["buffers"].append(".".join([*path, key]))
        below = list(module.named_children())
        if path:
            found["modules"].append(".".join(path))
            found["leaves"] += not below
        for key, child in below:
            if not path:
                found["children"].append(key)
            if child not in seen:
                visit(child, [*path, key])

    visit(model, [])
    return found

# %% tuples_and_get_submodule
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": tuple(name for name, _ in model.named_modules() if name != ""),
        "leaves": len([n for n, _ in model.named_modules() if n and next(model.get_submodule(n).children(), None) is None]),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": tuple(name for name, _ in model.named_buffers()),
    }
