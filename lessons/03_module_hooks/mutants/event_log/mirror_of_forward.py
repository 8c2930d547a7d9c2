# misconception: writes backward down as a mirror of forward | hint: event_log_order
def event_log(model):
    log, forward_part = [], []

    def note(kind, name, *rest):
        log.append((kind, name))
        forward_part.append((kind, name))

    def mirror(module, grad_output):
        for kind, name in reversed(forward_part):
            log.append(("backward_pre" if kind == "forward" else "backward", name))
        forward_part.clear()

    for name, module in model.named_modules():
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
    model.register_full_backward_pre_hook(mirror)
    return log
