# misconception: registers recursively on walks that are recursive already | hint: event_log_registered_again
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    for outer, parent in model.named_modules():
        for inner, module in parent.named_modules():
            name = ".".join(part for part in (outer, inner) if part)
            module.register_forward_pre_hook(partial(note, "forward_pre", name))
            module.register_forward_hook(partial(note, "forward", name))
            module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
            module.register_full_backward_hook(partial(note, "backward", name))
    return log
