# misconception: hooks the direct children | hint: children_for_modules
def hook_once(model, hook):
    return [child.register_forward_hook(hook) for child in model.children()]
