# misconception: draws new weights | hint: anatomy_changes_the_rest
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in model.modules():
        for name, child in list(parent._modules.items()):
            if isinstance(child, nn.ReLU):
                parent._modules[name] = nn.Tanh().train(child.training)
            if isinstance(child, nn.Linear):
                child.reset_parameters()
    return model
