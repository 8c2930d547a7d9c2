# misconception: puts the module's dict of hooks back as it was | hint: removes_other_hooks
@contextlib.contextmanager
def hooked(modules, hook):
    modules = [module for module in modules]
    before = [(module, dict(module._forward_hooks)) for module in modules]
    try:
        for module in modules:
            module.register_forward_hook(hook)
        yield
    finally:
        for module, hooks in before:
            module._forward_hooks.clear()
            module._forward_hooks.update(hooks)
