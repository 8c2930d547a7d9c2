# misconception: the new modules get the mode of their parent | hint: mode_lost
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in model.modules():
        for name, child in list(parent._modules.items()):
            if isinstance(child, nn.ReLU):
                parent._modules[name] = nn.Tanh().train(parent.training)
    return model
