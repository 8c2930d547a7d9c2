# misconception: looks the parent up with getattr | hint: anatomy_parent_not_found
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            parent, _, attr = name.rpartition(".")
            setattr(getattr(model, parent), attr, nn.Tanh().train(module.training))
    return model
