# misconception: returns after the first replacement | hint: returns_too_early
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh().train(module.training))
            return model
