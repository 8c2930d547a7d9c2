def swap_relu(model: nn.Module) -> nn.Module:
    for name, child in model.named_children():
        swap_relu(child)
    for name, child in list(model._modules.items()):
        if isinstance(child, nn.ReLU):
            setattr(model, name, nn.Tanh().train(child.training))
    return model
