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
