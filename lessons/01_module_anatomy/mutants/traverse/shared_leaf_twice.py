# misconception: counts a shared leaf at both places | hint: counts_twice
def leaves(module):
    children = list(module.children())
    return sum(leaves(child) for child in children) if children else 1


def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": leaves(model),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
