# misconception: looks among the plain attributes | hint: anatomy_looks_among_attributes
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [n for n, v in vars(model).items() if isinstance(v, nn.Module)],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
