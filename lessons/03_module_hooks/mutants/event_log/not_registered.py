# misconception: makes the hooks and does not register them | hint: hook_never_ran
def event_log(model):
    log = []
    hooks = {}
    for name, module in model.named_modules():
        hooks[name] = lambda *rest, name=name: log.append(("forward", name))
    return log
