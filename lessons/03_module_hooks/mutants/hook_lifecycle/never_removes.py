# misconception: never removes | hint: hooked_stays
@contextlib.contextmanager
def hooked(modules, hook):
    yield [module.register_forward_hook(hook) for module in modules]
