# misconception: only modules without children | hint: event_log_leaves_only
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    for name, module in model.named_modules():
        if len(list(module.children())) > 0:
            continue
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
        module.register_full_backward_hook(partial(note, "backward", name))
    return log
