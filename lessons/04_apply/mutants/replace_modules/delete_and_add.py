# misconception: takes the old name away and adds it at the end | hint: order_of_places_lost
def replace_modules(model, wanted, make):
    made = {}
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):
            if child is not None and wanted(child):
                if child not in made:
                    made[child] = make(child).train(child.training)
                del parent._modules[name]
                parent.add_module(name, made[child])
    return model
