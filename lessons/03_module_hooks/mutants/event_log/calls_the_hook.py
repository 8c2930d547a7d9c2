# misconception: calls the function instead of handing it over | hint: event_log_calls_hook
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    for name, module in model.named_modules():
        module.register_forward_pre_hook(note("forward_pre", name))
        module.register_forward_hook(note("forward", name))
        module.register_full_backward_pre_hook(note("backward_pre", name))
        module.register_full_backward_hook(note("backward", name))
    return log
