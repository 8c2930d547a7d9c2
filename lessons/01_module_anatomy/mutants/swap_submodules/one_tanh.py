# misconception: one Tanh for all places | hint: anatomy_one_for_all
def swap_relu(model: nn.Module) -> nn.Module:
    tanh = nn.Tanh()
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, tanh.train(module.training))
    return model
