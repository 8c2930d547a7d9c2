# misconception: the model, children and grandchildren | hint: event_log_two_levels
def event_log(model):
    log = []

    def note(kind, name, *rest):
        log.append((kind, name))

    def register(name, module):
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
        module.register_full_backward_hook(partial(note, "backward", name))

    register("", model)
    for name, child in model.named_children():
        register(name, child)
        for inner, grandchild in child.named_children():
            register(f"{name}.{inner}", grandchild)
    return log
