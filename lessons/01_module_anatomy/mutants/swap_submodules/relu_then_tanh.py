# misconception: puts the Tanh behind the ReLU | hint: anatomy_wrapped_not_replaced
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Sequential(module, nn.Tanh()))
    return model
