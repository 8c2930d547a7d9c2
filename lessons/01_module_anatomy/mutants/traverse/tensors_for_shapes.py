# misconception: hands out the parameters themselves | hint: anatomy_parameters_in_another_form
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": dict(model.named_parameters()),
        "buffers": [name for name, _ in model.named_buffers()],
    }
