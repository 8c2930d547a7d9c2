# misconception: cleans up after an Exception only | hint: hooked_some_errors_only
@contextlib.contextmanager
def hooked(modules, hook):
    handles = []

    def remove():
        for handle in handles:
            handle.remove()

    try:
        for module in modules:
            handles.append(module.register_forward_hook(hook))
        yield
    except Exception:
        remove()
        raise
    remove()
