# misconception: one hook of three arguments for all four kinds | hint: hook_arguments
def event_log(model):
    log = []

    def make_hook(kind, name):
        def hook(module, args, output):
            log.append((kind, name))

        return hook

    for name, module in model.named_modules():
        module.register_forward_pre_hook(make_hook("forward_pre", name))
        module.register_forward_hook(make_hook("forward", name))
        module.register_full_backward_pre_hook(make_hook("backward_pre", name))
        module.register_full_backward_hook(make_hook("backward", name))
    return log
