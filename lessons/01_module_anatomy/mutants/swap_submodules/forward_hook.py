# misconception: changes the output of each ReLU with a hook | hint: rebinds_name
def swap_relu(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if isinstance(module, nn.ReLU):
            module.register_forward_hook(lambda m, i, o: torch.tanh(i[0]))
    return model
