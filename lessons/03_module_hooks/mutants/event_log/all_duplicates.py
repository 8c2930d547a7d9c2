# misconception: also registers under the second name of a shared module | hint: event_log_hooks_twice
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    for name, module in model.named_modules(remove_duplicate=False):
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
        module.register_full_backward_hook(partial(note, "backward", name))
    return log
