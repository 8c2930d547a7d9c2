# misconception: gives the loop variable a new value | hint: rebinds_name
def swap_relu(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if isinstance(module, nn.ReLU):
            module = nn.Tanh().train(module.training)
    return model
