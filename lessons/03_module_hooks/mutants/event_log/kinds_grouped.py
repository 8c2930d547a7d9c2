# misconception: a list for each kind, joined at the end of backward | hint: event_log_order
def event_log(model):
    log, parts = [], {"forward_pre": [], "forward": [], "backward_pre": [], "backward": []}

    def note(kind, name, *rest):
        parts[kind].append((kind, name))
        log[:] = [entry for part in parts.values() for entry in part]

    for name, module in model.named_modules():
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
        module.register_full_backward_hook(partial(note, "backward", name))
    return log
