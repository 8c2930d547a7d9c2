def hook_once(model, hook):
    def forward_hook(module, args, output):
        return hook(module, args, output)

    return tuple(module.register_forward_hook(forward_hook, prepend=True) for module in model.modules())
