def hook_once(model, hook):
    handles = []

    def visit(module):
        if not hasattr(module, "_met"):
            module._met = True
            handles.append(module.register_forward_hook(hook))

    model.apply(visit)
    for module in model.modules():
        del module._met
    return handles
