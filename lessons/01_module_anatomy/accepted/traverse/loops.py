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
