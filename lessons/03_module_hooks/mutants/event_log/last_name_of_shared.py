# misconception: the last name of a shared module | hint: event_log_other_names
def event_log(model):
    log = []
    names = {module: name for name, module in model.named_modules(remove_duplicate=False)}

    def note(kind, module, *rest):
        log.append((kind, names[module]))

    for module in names:
        module.register_forward_pre_hook(partial(note, "forward_pre"))
        module.register_forward_hook(partial(note, "forward"))
        module.register_full_backward_pre_hook(partial(note, "backward_pre"))
        module.register_full_backward_hook(partial(note, "backward"))
    return log
