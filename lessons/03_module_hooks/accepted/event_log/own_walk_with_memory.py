def event_log(model):
    log, seen = [], set()

    def visit(module, name):
        if module in seen:
            return
        seen.add(module)
        for kind, register in (
            ("forward_pre", module.register_forward_pre_hook),
            ("forward", module.register_forward_hook),
            ("backward_pre", module.register_full_backward_pre_hook),
            ("backward", module.register_full_backward_hook),
        ):
            register(partial(lambda kind, name, *rest: log.append((kind, name)), kind, name))
        for child_name, child in module.named_children():
            visit(child, f"{name}.{child_name}" if name else child_name)

    visit(model, "")
    return log
