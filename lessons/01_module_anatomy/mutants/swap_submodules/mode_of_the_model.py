# misconception: the new modules get the mode of the whole model | hint: mode_lost
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh().train(model.training))
    return model
