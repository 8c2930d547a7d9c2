# misconception: takes what needs no gradient for a buffer | hint: anatomy_frozen_as_buffer
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [n for n, v in model.state_dict(keep_vars=True).items() if not v.requires_grad],
    }
