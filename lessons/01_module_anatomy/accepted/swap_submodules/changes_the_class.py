def swap_relu(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if isinstance(module, nn.ReLU):
            module.__class__ = nn.Tanh
    return model
