def hook_once(model, hook):
    handles = {}

    def visit(module):
        if id(module) not in handles:
            handles[id(module)] = module.register_forward_hook(hook)

    model.apply(visit)
    return list(handles.values())
