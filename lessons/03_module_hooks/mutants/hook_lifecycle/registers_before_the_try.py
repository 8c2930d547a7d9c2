# misconception: registers everything before the try | hint: hooked_half_registered
@contextlib.contextmanager
def hooked(modules, hook):
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
