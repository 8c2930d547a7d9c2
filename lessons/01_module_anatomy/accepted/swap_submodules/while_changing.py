def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in model.named_modules(remove_duplicate=False):
        if isinstance(module, nn.ReLU):
            new = nn.Tanh()
            if not module.training:
                new.eval()
            model.set_submodule(name, new)
    return model
