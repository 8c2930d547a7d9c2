# %% apply_on_parents
def swap_relu(model: nn.Module) -> nn.Module:
    def replace(parent):
        for name in list(parent._modules):
            child = getattr(parent, name)
            if type(child) is nn.ReLU:
                tanh = nn.Tanh()
                tanh.training = child.training
                setattr(parent, name, tanh)


    return model.apply(replace)

# %% modules_and_register
def swap_relu(model: nn.Module) -> nn.Module:
    made = {}
    for parent in model.modules():
        for name, child in parent._modules.items():
            if isinstance(child, nn.ReLU):
                parent._modules[name] = made.setdefault(child, nn.Tanh().train(mode=child.training))
    return model

# %% recursion
def swap_relu(model: nn.Module) -> nn.Module:
    for name, child in model.named_children():
        swap_relu(child)
    for name, child in list(model._modules.items()):
        if isinstance(child, nn.ReLU):
            setattr(model, name, nn.Tanh().train(child.training))
    return model

# %% rpartition_and_setattr
def swap_relu(model: nn.Module) -> nn.Module:
    for name in [n for n, m in model.named_modules(remove_duplicate=False) if isinstance(m, nn.ReLU)]:
        path, _, last = name.rpartition(".")
        parent = model.get_submodule(path)
        old = getattr(parent, last)
        new = nn.Tanh()
        new.train(old.training)
        parent.add_module(last, new)
    return model

# %% while_changing
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in model.named_modules(remove_duplicate=False):
        if isinstance(module, nn.ReLU):
            new = nn.Tanh()
            if not module.training:
                new.eval()
            model.set_submodule(name, new)
    return model

# %% one_for_each_mode
def swap_relu(model: nn.Module) -> nn.Module:
    pool = {True: nn.Tanh(), False: nn.Tanh().eval()}
    names = {n: m.training for n, m in model.named_modules(remove_duplicate=False) if isinstance(m, nn.ReLU)}
    for name, mode in names.items():
        model.set_submodule(name, pool[mode])
    return model
