# misconception: lists only parameters that need a gradient | hint: frozen_left_out
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {n: tuple(p.shape) for n, p in model.named_parameters() if p.requires_grad},
        "buffers": [name for name, _ in model.named_buffers()],
    }
