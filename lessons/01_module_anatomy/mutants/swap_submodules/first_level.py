# misconception: direct children only | hint: first_level_only
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_children()):
        if isinstance(module, nn.ReLU):
            setattr(model, name, nn.Tanh().train(module.training))
    return model
