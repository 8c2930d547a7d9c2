# misconception: the names of the lesson's network, typed in | hint: event_log_written_down
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    names = ["", "0", "0.0", "0.1", "1", "1.0", "1.1"]
    for name, module in zip(names, model.modules()):
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
        module.register_full_backward_hook(partial(note, "backward", name))
    return log
