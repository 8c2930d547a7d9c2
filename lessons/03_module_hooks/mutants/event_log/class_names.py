# misconception: class names for names | hint: event_log_other_names
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    for name, module in model.named_modules():
        module.register_forward_pre_hook(partial(note, "forward_pre", type(module).__name__))
        module.register_forward_hook(partial(note, "forward", type(module).__name__))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", type(module).__name__))
        module.register_full_backward_hook(partial(note, "backward", type(module).__name__))
    return log
