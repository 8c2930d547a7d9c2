# misconception: one name for all handles | hint: hooked_last_handle
@contextlib.contextmanager
def hooked(modules, hook):
    for module in modules:
        handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()
