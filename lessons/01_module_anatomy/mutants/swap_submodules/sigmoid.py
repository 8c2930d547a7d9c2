# misconception: another activation | hint: anatomy_another_class
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Sigmoid().train(module.training))
    return model
