# misconception: takes the last hook off each module, whoever put it there | hint: removes_other_hooks
@contextlib.contextmanager
def hooked(modules, hook):
    registered = []
    try:
        for module in modules:
            module.register_forward_hook(hook)
            registered.append(module)
        yield
    finally:
        for module in registered:
            if module._forward_hooks:
                module._forward_hooks.popitem()
