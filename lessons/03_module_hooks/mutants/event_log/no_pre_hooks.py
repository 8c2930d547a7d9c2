# misconception: no pre-hooks | hint: event_log_kinds_missing
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    for name, module in model.named_modules():
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_hook(partial(note, "backward", name))
    return log
