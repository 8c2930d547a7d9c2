# misconception: removes every registration of the function | hint: removes_other_hooks
@contextlib.contextmanager
def hooked(modules, hook):
    modules = list(modules)
    try:
        for module in modules:
            module.register_forward_hook(hook)
        yield
    finally:
        for module in modules:
            for key, function in list(getattr(module, "_forward_hooks", {}).items()):
                if function is hook:
                    del module._forward_hooks[key]
