# misconception: a walk of its own that comes to a shared module twice | hint: event_log_hooks_twice
def event_log(model):
    log = []

    def visit(module, name):
        module.register_forward_pre_hook(lambda m, a: log.append(("forward_pre", name)))
        module.register_forward_hook(lambda m, a, o: log.append(("forward", name)))
        module.register_full_backward_pre_hook(lambda m, go: log.append(("backward_pre", name)))
        module.register_full_backward_hook(lambda m, gi, go: log.append(("backward", name)))
        for child_name, child in module.named_children():
            visit(child, f"{name}.{child_name}" if name else child_name)

    visit(model, "")
    return log
