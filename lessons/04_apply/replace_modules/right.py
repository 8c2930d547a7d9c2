# %% apply_skips_its_own
def replace_modules(model: nn.Module, wanted, make) -> nn.Module:
    made, inside = {}, set()

    def visit(parent):
        if parent in inside:
            return
        for name, child in parent._modules.items():
            if child is not None and child not in made.values() and wanted(child):
                if child not in made:
                    made[child] = make(child).train(child.training)
                    inside.update(made[child].modules())
                parent._modules[name] = made[child]

    model.apply(visit)
    return model

# %% names_and_set_submodule
def replace_modules(model, wanted, make):
    made = {}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if name and wanted(module):
            if module not in made:
                new = make(module)
                new.train(module.training)
                made[module] = new
            model.set_submodule(name, made[module])
    return model

# %% parents_once
def replace_modules(model, wanted, make):
    made = {}
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):
            if child is None or not wanted(child):
                continue
            if id(child) not in made:
                made[id(child)] = make(child).train(child.training)
            parent._modules[name] = made[id(child)]
    return model

# %% paths_split_by_hand
def replace_modules(model, wanted, make):
    made = {}
    paths = [(name, m) for name, m in model.named_modules(remove_duplicate=False) if wanted(m)]
    for path, old in paths:
        *above, last = path.split(".")
        parent = model
        for step in above:
            parent = getattr(parent, step)
        new = made.setdefault(id(old), None) or make(old)
        made[id(old)] = new
        for part in new.modules():
            part.training = old.training
        setattr(parent, last, new)
    return model

# %% recursion_with_memory
def replace_modules(model, wanted, make, made=None, seen=None):
    made = {} if made is None else made
    seen = set() if seen is None else seen
    if model in seen:
        return model
    seen.add(model)
    for name, child in list(model._modules.items()):
        if child is None:
            continue
        if wanted(child):
            if child not in made:
                made[child] = make(child).train(child.training)
            setattr(model, name, made[child])
        else:
            replace_modules(child, wanted, make, made, seen)
    return model
