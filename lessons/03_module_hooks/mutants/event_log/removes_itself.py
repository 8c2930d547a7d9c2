# misconception: hooks that remove themselves after the first run | hint: runs_only_once
def event_log(model):
    log, handles = [], []

    def note(kind, name, *rest):
        log.append((kind, name))
        if kind == "backward" and len(log) == 4 * len(handles) // 4:
            for handle in handles:
                handle.remove()

    for name, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(partial(note, "forward_pre", name)))
        handles.append(module.register_forward_hook(partial(note, "forward", name)))
        handles.append(module.register_full_backward_pre_hook(partial(note, "backward_pre", name)))
        handles.append(module.register_full_backward_hook(partial(note, "backward", name)))
    return log
