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
