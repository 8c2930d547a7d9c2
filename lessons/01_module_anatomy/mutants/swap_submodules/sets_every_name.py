# misconception: sets every module again, the model included | hint: anatomy_root_has_no_parent
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        model.set_submodule(name, nn.Tanh() if isinstance(module, nn.ReLU) else module)
    return model
