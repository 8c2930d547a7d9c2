# misconception: freezes the parameters | hint: anatomy_changes_the_rest
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in model.modules():
        for name, child in list(parent._modules.items()):
            if isinstance(child, nn.ReLU):
                parent._modules[name] = nn.Tanh().train(child.training)
    for p in model.parameters():
        p.requires_grad_(False)
    return model
