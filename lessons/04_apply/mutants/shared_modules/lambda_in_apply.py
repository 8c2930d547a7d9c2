# misconception: registers at every visit, and returns what apply returns | hint: hooked_per_visit
def hook_once(model, hook):
    return model.apply(lambda module: module.register_forward_hook(hook))
