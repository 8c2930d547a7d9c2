def inventory(model: nn.Module) -> dict[str, object]:
    found = {"children": [], "modules": [], "leaves": 0, "parameters": {}, "buffers": []}
    seen, listed = set(), set()

    def visit(module, path):
        seen.add(module)
        for key, parameter in module.named_parameters(recurse=False):
            if parameter not in listed:
                listed.add(parameter)
                found["parameters"][".".join([*path, key])] = list(parameter.shape)
        found["buffers"] += [".".join([*path, key]) for key, _ in module.named_buffers(recurse=False)]
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
