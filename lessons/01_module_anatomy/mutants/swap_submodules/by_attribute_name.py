# misconception: replaces what is called act | hint: anatomy_by_attribute_name
def swap_relu(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if hasattr(module, "act"):
            module.act = nn.Tanh()
    return model
