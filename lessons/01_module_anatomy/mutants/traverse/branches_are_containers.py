# misconception: takes all but the containers for leaves | hint: anatomy_containers_for_branches
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(
            1
            for n, m in model.named_modules()
            if n and not isinstance(m, (nn.Sequential, nn.ModuleList, nn.ModuleDict))
        ),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
