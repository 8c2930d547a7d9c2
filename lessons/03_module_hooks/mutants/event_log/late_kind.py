# misconception: the kind of an inner loop is looked up when the hook runs | hint: event_log_other_kinds
def event_log(model):
    log = []
    for name, module in model.named_modules():
        for kind, register in (
            ("forward_pre", module.register_forward_pre_hook),
            ("forward", module.register_forward_hook),
            ("backward_pre", module.register_full_backward_pre_hook),
            ("backward", module.register_full_backward_hook),
        ):
            register(lambda *rest, name=name: log.append((kind, name)))
    return log
