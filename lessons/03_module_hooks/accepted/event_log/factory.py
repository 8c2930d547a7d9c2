def make_hook(log, kind, name):
    def hook(*arguments):
        log.append((kind, name))

    return hook


def event_log(model):
    log = []
    for name, module in model.named_modules():
        module.register_forward_pre_hook(make_hook(log, "forward_pre", name))
        module.register_forward_hook(make_hook(log, "forward", name))
        module.register_full_backward_pre_hook(make_hook(log, "backward_pre", name))
        module.register_full_backward_hook(make_hook(log, "backward", name))
    return log
