# misconception: yields inside the loop | hint: hooked_yields_again
@contextlib.contextmanager
def hooked(modules, hook):
    for module in modules:
        with module.register_forward_hook(hook):
            yield
