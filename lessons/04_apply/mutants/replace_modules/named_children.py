# misconception: named_children hides the second place in one parent | hint: shared_place_missed
def replace_modules(model, wanted, make):
    made, places = {}, []
    model.apply(lambda parent: places.extend((parent, name, child) for name, child in parent.named_children()))
    for parent, name, child in places:
        if wanted(child):
            if child not in made:
                made[child] = make(child).train(child.training)
            setattr(parent, name, made[child])
    return model
