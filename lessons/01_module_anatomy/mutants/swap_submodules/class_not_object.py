# misconception: the class instead of an object | hint: anatomy_class_for_module
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh)
    return model
