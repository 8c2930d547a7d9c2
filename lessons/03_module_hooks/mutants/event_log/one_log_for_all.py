# misconception: one global list, emptied by each call | hint: shared_list
events = []


def note(kind, name, *rest):
    events.append((kind, name))


def event_log(model):
    events.clear()
    for name, module in model.named_modules():
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
        module.register_full_backward_hook(partial(note, "backward", name))
    return events
