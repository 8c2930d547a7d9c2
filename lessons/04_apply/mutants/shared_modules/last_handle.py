# misconception: overwrites the handle | hint: one_handle_kept
def hook_once(model, hook):
    for module in model.modules():
        handle = module.register_forward_hook(hook)
    return handle
