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

# %% helper_called_places
def places(model):
    return [name for name, module in model.named_modules(remove_duplicate=False) if isinstance(module, nn.ReLU)]


def swap_relu(model: nn.Module) -> nn.Module:
    for name in places(model):
        model.set_submodule(name, nn.Tanh().train(model.get_submodule(name).training))
    return model

# %% modes_restored
def swap_relu(model: nn.Module) -> nn.Module:
    modes = {name: module.training for name, module in model.named_modules(remove_duplicate=False)}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh())
    for name, module in model.named_modules(remove_duplicate=False):
        module.training = modes[name]
    return model

# %% modules_and_register
def swap_relu(model: nn.Module) -> nn.Module:
    made = {}
    for parent in model.modules():
        for name, child in parent._modules.items():
            if isinstance(child, nn.ReLU):
                parent._modules[name] = made.setdefault(child, nn.Tanh().train(mode=child.training))
    return model

# %% one_tanh_a_relu
def swap_relu(model: nn.Module) -> nn.Module:
    old = {name: module for name, module in model.named_modules(remove_duplicate=False) if isinstance(module, nn.ReLU)}
    new = {module: nn.Tanh().train(module.training) for module in old.values()}
    for name, module in old.items():
        model.set_submodule(name, new[module])
    return model

# %% recursion
def swap_relu(model: nn.Module) -> nn.Module:
    for name, child in model.named_children():
        swap_relu(child)
    for name, child in list(model._modules.items()):
        if isinstance(child, nn.ReLU):
            setattr(model, name, nn.Tanh().train(child.training))
    return model

# %% returns_what_belongs_there
def swap_relu(model: nn.Module) -> nn.Module:
    if isinstance(model, nn.ReLU):
        return nn.Tanh().train(model.training)
    for name, child in list(model._modules.items()):
        if child is not None:
            setattr(model, name, swap_relu(child))
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

# %% stack
def swap_relu(model: nn.Module) -> nn.Module:
    stack = [model]
    while stack:
        parent = stack.pop()
        for name, child in list(parent._modules.items()):
            if type(child) == nn.ReLU:
                new = nn.Tanh()
                new.training = child.training
                parent.register_module(name, new)
            elif child is not None:
                stack.append(child)
    return model

# %% until_none_is_left
def swap_relu(model: nn.Module) -> nn.Module:
    while True:
        found = next(((n, m) for n, m in model.named_modules() if isinstance(m, nn.ReLU)), None)
        if found is None:
            return model
        name, relu = found
        parent = model.get_submodule(".".join(name.split(".")[:-1]))
        setattr(parent, name.split(".")[-1], nn.Tanh().train(relu.training))

# %% while_changing
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in model.named_modules(remove_duplicate=False):
        if isinstance(module, nn.ReLU):
            new = nn.Tanh()
            if not module.training:
                new.eval()
            model.set_submodule(name, new)
    return model
