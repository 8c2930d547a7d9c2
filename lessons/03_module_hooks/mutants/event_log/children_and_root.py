# misconception: the model and its children | hint: event_log_first_level
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    for name, module in [("", model), *model.named_children()]:
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
        module.register_full_backward_hook(partial(note, "backward", name))
    return log
