# misconception: setattr with a dotted name, during the walk | hint: anatomy_changed_while_walking
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in model.named_modules():
        if isinstance(module, nn.ReLU):
            setattr(model, name, nn.Tanh())
    return model
