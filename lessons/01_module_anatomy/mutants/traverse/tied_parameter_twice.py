# misconception: lists a parameter of two modules in both | hint: counts_twice
def inventory(model: nn.Module) -> dict[str, object]:
    parameters = {}
    for name, module in model.named_modules():
        for key, parameter in module.named_parameters(recurse=False):
            parameters[f"{name}.{key}" if name else key] = tuple(parameter.shape)
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": parameters,
        "buffers": [name for name, _ in model.named_buffers()],
    }
