# misconception: remembers what is printed | hint: alike_taken_for_same
def hook_once(model, hook):
    seen = {str(module): module for module in model.modules()}
    return [module.register_forward_hook(hook) for module in seen.values()]
