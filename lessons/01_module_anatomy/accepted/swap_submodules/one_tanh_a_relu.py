def swap_relu(model: nn.Module) -> nn.Module:
    old = {name: module for name, module in model.named_modules(remove_duplicate=False) if isinstance(module, nn.ReLU)}
    new = {module: nn.Tanh().train(module.training) for module in old.values()}
    for name, module in old.items():
        model.set_submodule(name, new[module])
    return model
