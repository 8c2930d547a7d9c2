# misconception: replaces a shared module at its first place only | hint: shared_place_missed
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh().train(module.training))
    return model
