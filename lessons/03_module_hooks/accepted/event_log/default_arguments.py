def event_log(model):
    log = []
    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda m, a, name=name: log.append(("forward_pre", name)))
        module.register_forward_hook(lambda m, a, o, name=name: log.append(("forward", name)))
        module.register_full_backward_pre_hook(lambda m, go, name=name: log.append(("backward_pre", name)))
        module.register_full_backward_hook(lambda m, gi, go, name=name: log.append(("backward", name)))
    return log
