def swap_relu(model: nn.Module) -> nn.Module:
    modes = {name: module.training for name, module in model.named_modules(remove_duplicate=False)}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh())
    for name, module in model.named_modules(remove_duplicate=False):
        module.training = modes[name]
    return model
