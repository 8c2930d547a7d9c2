# misconception: changes what the ReLU computes, not what it is | hint: rebinds_name
def swap_relu(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if isinstance(module, nn.ReLU):
            module.forward = torch.tanh
    return model
