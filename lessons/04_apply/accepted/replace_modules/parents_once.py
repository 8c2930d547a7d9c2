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
