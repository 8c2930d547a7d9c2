# misconception: removes behind the yield, without finally | hint: hooked_no_finally
@contextlib.contextmanager
def hooked(modules, hook):
    handles = [module.register_forward_hook(hook) for module in modules]
    yield
    for handle in handles:
        handle.remove()
