def swap_relu(model: nn.Module) -> nn.Module:
    for name in [n for n, m in model.named_modules(remove_duplicate=False) if m.__class__.__name__ == "ReLU"]:
        path, _, last = name.rpartition(".")
        parent = model.get_submodule(path)
        old = getattr(parent, last)
        new = nn.Tanh()
        new.train(old.training)
        parent.add_module(last, new)
    return model
