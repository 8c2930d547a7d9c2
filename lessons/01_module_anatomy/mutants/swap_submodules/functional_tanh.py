# misconception: puts a function where a module stands | hint: function_for_module
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            path, _, last = name.rpartition(".")
            setattr(model.get_submodule(path), last, torch.tanh)
    return model
