# misconception: returns the handles | hint: returns_no_list
def event_log(model):
    log, handles = [], {}

    def note(kind, name, *rest):
        log.append((kind, name))

    for name, module in model.named_modules():
        handles[name] = (
            module.register_forward_pre_hook(partial(note, "forward_pre", name)),
            module.register_forward_hook(partial(note, "forward", name)),
            module.register_full_backward_pre_hook(partial(note, "backward_pre", name)),
            module.register_full_backward_hook(partial(note, "backward", name)),
        )
    return handles
