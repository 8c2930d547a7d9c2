# misconception: splits each name into two | hint: anatomy_parent_not_found
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in model.named_modules():
        if isinstance(module, nn.ReLU):
            parent, attr = name.split(".")
            setattr(getattr(model, parent), attr, nn.Tanh())
    return model
